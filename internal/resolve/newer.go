package resolve

import "github.com/Masterminds/semver/v3"

// Newer is the newest of the versions that are there, when it is above the one that is
// used; else "". Prereleases count with devel only. Versions that can't be read are none.
func Newer(used string, there []string, devel bool) string {
	i, err := Choose(there, Wanted{Devel: devel})
	if err != nil {
		return "" // there is none
	}
	v, errV := semver.NewVersion(used)
	w, errW := semver.NewVersion(there[i])
	if errV != nil || errW != nil || !w.GreaterThan(v) {
		return ""
	}
	return there[i]
}

// NewerTag is Newer among the tags of a chart in a registry.
func NewerTag(used string, tags []string, devel bool) string {
	var versions []string
	for _, tag := range tags {
		if version := VersionOf(tag); Strict(version) {
			versions = append(versions, version)
		}
	}
	return Newer(used, versions, devel)
}
