package resolve

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Tag is a tag of a chart in a registry.
type Tag struct {
	Name string
	// Version is "" for a tag that is not a version.
	Version string
}

// signatureTag is the prefix of the tags under which older registries store a manifest's referrers,
// such as its signature
// (https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#referrers-tag-schema).
const signatureTag = "sha256-"

// Tags returns the matching tags of a chart, highest version first, or without All only the newest.
// Tags that are not versions come last, and only with All and no range. Errors: an invalid range.
func (s Search) Tags(tags []string) ([]Tag, error) {
	constraint, err := s.constraint()
	if err != nil {
		return nil, err
	}
	var versions []string
	var others []Tag
	for _, tag := range tags {
		version := VersionOf(tag)
		v, err := semver.StrictNewVersion(version)
		switch {
		case err == nil && constraint.Check(v):
			versions = append(versions, version)
		case err != nil && s.All && s.Version == "" && !strings.HasPrefix(tag, signatureTag):
			others = append(others, Tag{Name: tag})
		}
	}
	var out []Tag
	for _, i := range Descending(versions) {
		out = append(out, Tag{Name: TagOf(versions[i]), Version: versions[i]})
	}
	if !s.All {
		return out[:min(1, len(out))], nil
	}
	return append(out, others...), nil
}

// NewerTag is like Newer, for the tags of a chart in a registry.
func NewerTag(used string, tags []string, devel bool) string {
	return Newer(used, versionsOf(tags), devel)
}

// versionsOf returns the versions among tags.
func versionsOf(tags []string) []string {
	var out []string
	for _, tag := range tags {
		if version := VersionOf(tag); Strict(version) {
			out = append(out, version)
		}
	}
	return out
}
