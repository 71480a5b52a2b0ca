package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checked lists for each check of the specification of plans in pull requests (PULLREQUESTS.md
// §8), from 1 to 45, the file that has it: "Check 7:" is at the start of a part of a script, or in the
// comment above a test.
var checked = [45]string{
	"internal/command/testdata/offline/many.txtar",
	"internal/command/testdata/offline/many.txtar",
	"internal/command/testdata/offline/manyhelmfile.txtar",
	"internal/command/testdata/offline/manyhelmfile.txtar",
	"internal/command/testdata/offline/manyhelmfile.txtar",
	"internal/command/testdata/offline/manyhelmfile.txtar",
	"internal/command/testdata/offline/flux.txtar",
	"internal/command/testdata/offline/manygit.txtar",
	"internal/command/testdata/offline/many.txtar",
	"internal/command/testdata/offline/manybig.txtar",
	"internal/command/testdata/offline/manybig.txtar",
	"internal/command/testdata/offline/many.txtar",
	"internal/command/testdata/offline/many.txtar",
	"internal/command/testdata/offline/many.txtar",
	"internal/command/testdata/offline/many.txtar",
	"e2e/testdata/script/many.txtar",
	"e2e/approval_test.go",
	"e2e/testdata/script/manydeferred.txtar",
	"internal/forge/forge_test.go",
	"internal/forge/forge_test.go",
	"internal/command/action_test.go",
	"packaging/actionlint_test.go",
	"internal/command/action_test.go",
	"internal/command/action_test.go",
	"internal/command/checks_test.go",
	"internal/command/checks_test.go",
	"internal/command/checks_test.go",
	"internal/command/checks_test.go",
	"internal/command/testdata/offline/manybig.txtar",
	"internal/findings/findings_test.go",
	"internal/command/checks_test.go",
	"internal/command/checks_test.go",
	"e2e/approval_test.go",
	"e2e/approval_test.go",
	"internal/command/testdata/offline/approval.txtar",
	"internal/command/testdata/offline/approval.txtar",
	"e2e/approval_test.go",
	"e2e/approval_test.go",
	"packaging/dist_test.go",
	"packaging/dist_test.go",
	"packaging/dist_test.go",
	"packaging/dist_test.go",
	"packaging/dist_test.go",
	"packaging/helm_test.go",
	"internal/command/checks_test.go",
}

// things lists for each of the ten things that no peer's pull request shows (§7) the file that has
// it: "Thing 7:" is there in the same form as checks.
var things = [10]string{
	"internal/command/testdata/offline/manymatrix.txtar",
	"e2e/testdata/script/comment.txtar",
	"e2e/testdata/script/comment.txtar",
	"internal/forge/since_test.go",
	"e2e/testdata/script/comment.txtar",
	"e2e/testdata/script/comment.txtar",
	"e2e/testdata/script/comment.txtar",
	"internal/command/testdata/offline/manymatrix.txtar",
	"e2e/approval_test.go",
	"e2e/testdata/script/comment.txtar",
}

// flows are tests named after the flows of §5.
var flows = []string{"TestFlowA", "TestFlowB", "TestFlowC", "TestFlowD", "TestFlowE"}

// holds reports whether a file of the project contains a text.
func holds(t *testing.T, file, text string) bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
	if err != nil {
		t.Error(err)
	}
	return strings.Contains("\n"+string(data), text)
}

// Every check of the specification still has what shows it.
func TestEveryCheckOfPullRequestsIsShown(t *testing.T) {
	for i, file := range checked {
		begins(t, file, fmt.Sprintf("Check %d:", i+1))
	}
	for _, name := range flows {
		if !holds(t, "e2e/flows_test.go", "func "+name) {
			t.Errorf("no test is named %s…", name)
		}
	}
}

// Each of the ten things is described where readers find it, and shown by a test.
func TestTenThingsAreToldAndShown(t *testing.T) {
	const page = "docs/pull-requests.md"
	for i, file := range things {
		begins(t, file, fmt.Sprintf("Thing %d:", i+1))
		if !holds(t, page, fmt.Sprintf("\n%d. **", i+1)) {
			t.Errorf("%s does not tell of thing %d", page, i+1)
		}
	}
}

// begins checks that a file has a part that begins with the words, or a test whose comment has them.
func begins(t *testing.T, file, words string) {
	t.Helper()
	if strings.HasSuffix(file, ".go") {
		if !aboveTest(t, file, words) {
			t.Errorf("%s: %q is above no test", file, words)
		}
	} else if !holds(t, file, "\n# "+words) {
		t.Errorf("%s has no part %q", file, words)
	}
}

// aboveTest reports whether the words are in the comment above a test in the file.
func aboveTest(t *testing.T, file, words string) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(file)), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && strings.HasPrefix(f.Name.Name, "Test") && strings.Contains(strings.ReplaceAll(f.Doc.Text(), "\n", " "), words)
	})
}
