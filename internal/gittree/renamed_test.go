package gittree

import "testing"

// A file or folder counts as renamed only if nothing of it is left or has gone elsewhere, and most of it is under
// the new name: whatever is missing there would count as removed.
func TestRenamed(t *testing.T) {
	const files = `git init -q -b main . && mkdir apps && for f in web db cache; do for i in 1 2 3 4; do echo "$f line $i of $f"; done > apps/$f.yaml; done
git add . && git commit -qm one && `
	for _, c := range []struct{ name, change, want string }{
		{"all of a folder", "git mv apps apps2", "apps"},
		{"all but one that is deleted", "git mv apps apps2 && git rm -q -f apps2/db.yaml", "apps"},
		{"one that is not there any more", "mkdir apps2 && git mv apps/web.yaml apps2/ && git rm -q -r apps", ""},
		{"one of a folder that stays", "mkdir apps2 && git mv apps/web.yaml apps2/", ""},
		{"most of a folder that stays", "mkdir apps2 && git mv apps/web.yaml apps/db.yaml apps2/", ""},
		{"part of one that is split", "mkdir apps2 apps3 && git mv apps/web.yaml apps/db.yaml apps2/ && git mv apps/cache.yaml apps3/", ""},
		{"all, and files that git ignores stay", "git mv apps apps2 && mkdir apps && echo apps/tmp > .git/info/exclude && touch apps/tmp", "apps"},
		{"nothing", "mkdir apps2 && echo else > apps2/web.yaml && git add .", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := shell(t, files+c.change)
			got, err := Renamed(t.Context(), dir, "HEAD", "apps2")
			if err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	dir := shell(t, files+"git mv apps/web.yaml new.yaml")
	if got, err := Renamed(t.Context(), dir, "HEAD", "new.yaml"); err != nil || got != "apps/web.yaml" {
		t.Errorf("%q, %v", got, err)
	}
}
