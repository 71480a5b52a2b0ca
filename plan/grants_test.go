package plan

import "testing"

// Large roles do not use up what small ones may list, in whatever order they come.
func TestSmallRolesAreListed(t *testing.T) {
	b := &builder{}
	for range 2 {
		for range 10 {
			if !b.listsRights(smallRole) {
				t.Error("a small role is compared rule by rule")
			}
		}
		b.listsRights(maxRights)
	}
	if b.listsRights(smallRole + 1) {
		t.Error("large roles may list more than maxRights")
	}
	for range maxSmallRights / smallRole {
		b.listsRights(smallRole)
	}
	if b.listsRights(1) {
		t.Error("small roles may list more than maxSmallRights")
	}
}
