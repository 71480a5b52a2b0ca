package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever reads a warning that a flag does nothing finds the reason on the page, too.
func TestFlagsThatDoNothingStandOnThePageOfDifferences(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "helm-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range helmFlags {
		if f.idle != "" && !strings.Contains(string(page), "\n| `--"+f.name()+"` | nothing, and one warning says so |") {
			t.Errorf("docs/helm-differences.md does not say that --%s does nothing", f.name())
		}
	}
}
