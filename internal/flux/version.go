package flux

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// metadataDigits is how many digits of a digest or commit go into a version.
const metadataDigits = 12

// VersionOf returns the version that helm-controller gives a chart whose source has
// a digest in its revision (Source.HasRevisionDigest), and the digest it records: the
// metadata of the chart's own version is replaced with 12 digits of the digest in the
// artifact's revision, "tag@sha256:…" or "sha256:…" (helm-controller 1.6.3,
// internal/controller/helmrelease_controller.go, mutateChartWithSourceRevision).
//
// It is an error if a tag that is a version differs from the chart's (with _ for +),
// or if the revision has no digest. A tag that is not a version is not checked, and
// stays part of the recorded digest.
func VersionOf(chartVersion, revision string) (version, digest string, err error) {
	v, err := semver.NewVersion(chartVersion)
	if err != nil {
		return "", "", fmt.Errorf("invalid chart version %s", chartVersion)
	}
	tag, digest, tagged := strings.Cut(revision, "@")
	if tagged {
		tag = strings.ReplaceAll(tag, "_", "+")
	}
	switch t, err := semver.NewVersion(tag); {
	case err != nil:
		digest = revision
	case !tagged || !t.Equal(v):
		return "", "", fmt.Errorf("artifact revision %s does not match chart version %s", tag, chartVersion)
	}
	_, digits, ok := strings.Cut(digest, ":")
	if !ok || len(digits) < metadataDigits {
		return "", "", fmt.Errorf("invalid artifact revision %s", revision)
	}
	next, err := v.SetMetadata(digits[:metadataDigits])
	if err != nil {
		return "", "", err
	}
	return next.String(), digest, nil
}

// ChartVersion returns the version that source-controller gives a chart that it
// packages from a GitRepository or Bucket: with the strategy Revision the
// metadata is 12 digits of the source's revision ("branch@sha1:…" or
// "sha256:…"); with valuesFiles the generation of the HelmChart is added.
func ChartVersion(chartVersion, revision, strategy string, valuesFiles bool, generation int64) (string, error) {
	v, err := semver.NewVersion(chartVersion)
	if err != nil {
		return "", fmt.Errorf("invalid chart version %s", chartVersion)
	}
	var metadata []string
	if strategy == ByRevision {
		digits := revision[strings.LastIndexByte(revision, ':')+1:]
		metadata = append(metadata, digits[:min(len(digits), metadataDigits)])
	}
	if valuesFiles {
		metadata = append(metadata, strconv.FormatInt(generation, 10))
	}
	if len(metadata) == 0 {
		return chartVersion, nil
	}
	next, err := v.SetMetadata(strings.Join(metadata, "."))
	if err != nil {
		return "", err
	}
	return next.String(), nil
}
