package flux

import (
	"strings"
	"testing"
)

const someDigest = "sha256:0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b"

// Check 18 of FLUX.md.
func TestCheck18VersionOfAnOCIArtifact(t *testing.T) {
	for _, c := range []struct{ why, chart, revision, version, digest, fails string }{
		{"tag and digest", "1.2.3", "1.2.3@" + someDigest, "1.2.3+0a1b2c3d4e5f", someDigest, ""},
		{"metadata of the chart is replaced", "1.2.3+old", "1.2.3_old@" + someDigest, "1.2.3+0a1b2c3d4e5f", someDigest, ""},
		{"another version", "1.2.3", "1.3.0@" + someDigest, "", "", "artifact revision 1.3.0 does not match chart version 1.2.3"},
		{"a tag without a digest", "1.0.0", "1.0.0", "", "", "artifact revision 1.0.0 does not match"},
		{"a tag that is no version", "1.2.3", "latest@" + someDigest, "1.2.3+0a1b2c3d4e5f", "latest@" + someDigest, ""},
		{"a digest alone", "1.2.3", someDigest, "1.2.3+0a1b2c3d4e5f", someDigest, ""},
		{"neither", "1.2.3", "latest", "", "", "invalid artifact revision latest"},
	} {
		version, digest, err := VersionOf(c.chart, c.revision)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want %s", c.why, err, c.fails)
			}
			continue
		}
		if err != nil || version != c.version || digest != c.digest {
			t.Errorf("%s: %s, %s, %v, want %s, %s", c.why, version, digest, err, c.version, c.digest)
		}
	}
}

// Check 9 of FLUX.md: the metadata of a chart from Git.
func TestCheck9VersionOfAChartFromGit(t *testing.T) {
	const revision = "main@sha1:1111111111112222222222223333333333334444"
	for _, c := range []struct {
		why, strategy string
		files         bool
		want          string
	}{
		{"the chart's own", ByChartVersion, false, "1.0.0"},
		{"12 digits of the commit", ByRevision, false, "1.0.0+111111111111"},
		{"the generation of the HelmChart", ByChartVersion, true, "1.0.0+3"},
		{"both", ByRevision, true, "1.0.0+111111111111.3"},
	} {
		if got, err := ChartVersion("1.0.0", revision, c.strategy, c.files, 3); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.why, got, err, c.want)
		}
	}
}
