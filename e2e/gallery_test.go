//go:build cluster

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

const galleryIntro = `# Plans of real upgrades

Upgrades that many people have made, as they are planned without a cluster, at 100 columns
and no more than the first %d lines of each. The charts are as their projects published
them; every command is run as it stands, on archives that ` + "`helm pull`" + ` or
` + "`kubectl release pull`" + ` fetches. ` + "`TestGallery`" + ` compares with what the program prints
today; ` + "`-update`" + ` writes this page anew.
`

// gallery are upgrades, and what somebody should see in their plan before all.
var gallery = []struct {
	chart, from, to, flags, look string
}{
	{"argo-cd", "9.7.1", "10.1.1", "", "The counts look harmless. What can cut traffic is below them, and the default that\nswitched it on above."},
	{"kube-prometheus-stack", "83.7.0", "88.5.3", "", "An upgrade leaves CRDs of `crds/` as they are, as Helm does: the first notice says so.\nThe images of Prometheus and Alertmanager are in custom resources: what becomes of their\npods is their operator's."},
	{"ingress-nginx", "4.13.5", "4.15.1", "", "Two hooks have another image; the ten others are not shown."},
	{"redis", "18.19.4", "23.1.1", "", "Five major versions: what holds data changes, and many defaults with it."},
	{"postgresql", "15.5.38", "17.1.0", "--set auth.postgresPassword=not-random", "The major version of the database changes. The plan says that what holds data gets\nanother image; whether that image reads the old data, only its notes can say."},
	{"jenkins", "5.9.29", "5.9.53", "", "Plugins and the configuration as code, compared inside their texts."},
	{"traefik", "39.0.9", "41.3.0", "", "CRDs that are new are created; those that are there already stay."},
}

// TestGallery plans upgrades of charts of ../shared/versions. docs/gallery.md shows what
// comes of it.
func TestGallery(t *testing.T) {
	versions := inTree("..", "shared", "versions")
	if _, err := os.Stat(versions); err != nil {
		t.Skipf("the charts of docs/gallery.md are not here: %v", err)
	}
	const shown = 40
	var text strings.Builder
	fmt.Fprintf(&text, galleryIntro, shown)
	for _, g := range gallery {
		args := append([]string{"plan", "r", g.to + ".tgz", "--offline", "--against", g.from + ".tgz"}, strings.Fields(g.flags)...)
		// In the folder of the archives the command is as people type it.
		command := fmt.Sprintf(`cd %q && COLUMNS=100 exec "$0" "$@"`, filepath.Join(versions, g.chart))
		r := cluster.Run(t, "sh", "", append([]string{"-c", command, clustertest.Program(t)}, args...)...)
		if r.ExitCode != 0 {
			t.Fatalf("%s: exit code %d\n%s", g.chart, r.ExitCode, r.Stderr)
		}
		fmt.Fprintf(&text, "\n## %s %s → %s\n\n%s\n\n```console\n$ kubectl release %s\n%s```\n", g.chart, g.from, g.to, g.look, strings.Join(args, " "), firstLines(r.Stdout, shown))
	}
	file := inTree("docs", "gallery.md")
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("%s is not what is printed (-update writes it anew):\n%s", file, diff)
	}
}

// firstLines are at most n lines, and how many there are besides.
func firstLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= n+1 {
		return text
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("[… %d more lines]\n", len(lines)-1-n)
}
