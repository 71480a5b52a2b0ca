package command

import (
	"testing"
)

// A release is planned only if a change may concern it: a tag that is a version means the same chart
// on both sides, and so does a folder that a user names. Only the newest of something may have moved.
func TestChartsThatAreTheSameOnBothSides(t *testing.T) {
	for _, c := range []struct {
		why, source, given string
		touched            bool
	}{
		{"a version", "ref: {tag: 1.2.3}", "", false},
		{"a version with a v", "ref: {tag: v1.2.3}", "", false},
		{"a version with metadata", "ref: {tag: v1.2.3_build.5}", "", false},
		{"a digest", "ref: {digest: 'sha256:2222222222222222222222222222222222222222222222222222222222222222'}", "", false},
		{"a tag that moves", "ref: {tag: stable}", "", true},
		{"a part of a version", "ref: {tag: v1.2}", "", true},
		{"a range", "ref: {semver: 1.x}", "", true},
		{"a range, in a folder that is named", "ref: {semver: 1.x}", " --source OCIRepository/shop/web=", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			if c.given != "" {
				c.given += t.TempDir()
			}
			for _, side := range []string{"base", "head"} {
				d.releaseFile(side+"/release.yaml", "web", "chartRef: {kind: OCIRepository, name: web}")
				d.file(side+"/source.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web, namespace: shop}\nspec: {interval: 1m, url: 'oci://example.com/web', "+c.source+"}\n")
			}
			t.Chdir("head")
			if web := d.planned("release.yaml source.yaml --offline --base-dir ../base" + c.given)["web"]; web.Touched != c.touched {
				t.Errorf("%+v", web)
			}
		})
	}
}
