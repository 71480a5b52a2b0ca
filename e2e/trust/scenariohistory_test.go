//go:build cluster

package trust

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// historyCommands returns commands that check the records of a release:
//
//	terminal RELEASE    there are revisions, and none is pending or uninstalling
//	settled RELEASE     none is pending or uninstalling, and only the newest is deployed
func historyCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"terminal": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: terminal RELEASE")
			}
			found := statuses(ts, args[0])
			if found == "" || strings.Contains(found, "pending") || strings.Contains(found, "uninstalling") {
				ts.Fatalf("the revisions of %s are %q", args[0], found)
			}
		},
		"settled": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: settled RELEASE")
			}
			found := statuses(ts, args[0])
			if strings.Contains(found, "pending") || strings.Contains(found, "uninstalling") ||
				!strings.HasSuffix(found, "deployed") || strings.Count(found, "deployed") != 1 {
				ts.Fatalf("the revisions of %s are %q", args[0], found)
			}
		},
	}
}
