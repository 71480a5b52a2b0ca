package command

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The policy with expressions that docs/policy.md shows is the one that
// testdata/offline/expressions.txtar plans with.
func TestPolicyPageShowsExpressionsThatAreTried(t *testing.T) {
	page, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := txtar.ParseFile("testdata/offline/expressions.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := ""
	for _, f := range script.Files {
		if f.Name == "policy.yaml" {
			tried = string(f.Data)
		}
	}
	if tried == "" || !strings.Contains(string(page), "```yaml\n"+tried+"```") {
		t.Errorf("docs/policy.md does not show\n%s", tried)
	}
}
