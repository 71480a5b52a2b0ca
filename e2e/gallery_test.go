//go:build cluster

package e2e

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

const galleryIntro = `# Plans of real upgrades

Upgrades that many people have made, as they are planned without a cluster, at 100 columns
and no more than the first %d lines of each; then the first %d lines on a cluster; then
what a pull request does to many releases.
The charts are as their projects published them; every command is run as it stands, on
archives that ` + "`helm pull`" + ` or
` + "`kubectl release pull`" + ` fetches. ` + "`TestGallery`" + ` compares with what the program prints
today; ` + "`-update`" + ` writes this page anew.
`

// gallery lists upgrades, and what to look for first in their plans.
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

// galleryOnCluster lists the same upgrades on a cluster, which knows more than the charts do:
// where the old version is installed, what is changed by hand, and what to look for.
var galleryOnCluster = []struct {
	chart, from, to, namespace, byHand, look string
}{
	{"argo-cd", "9.7.1", "10.1.1", "argocd", "", "What is planned without a cluster holds on one, too."},
	{"kube-prometheus-stack", "83.7.0", "88.5.3", "monitoring", "", "The CRDs are compared with those that are there, and pods are counted on the nodes.\nGrafana restarts, too: its password is looked up, and the checksum of it is another."},
	{"ingress-nginx", "4.13.5", "4.15.1", "ingress", "", "The hooks are compared with those of the record."},
	{"redis", "18.19.4", "23.1.1", "cache", "scale statefulset r-redis-replicas --replicas=5", "Somebody has scaled the replicas from 3 to 5, which no chart knows: the upgrade takes\nthem back, and the claims of the two are left."},
	{"postgresql", "15.5.38", "17.1.0", "db", "", "The password is looked up, so that nobody has to give it."},
	{"jenkins", "5.9.29", "5.9.53", "ci", "", "The password that the chart makes up is looked up, too, and is no change."},
	{"traefik", "39.0.9", "41.3.0", "edge", "", "The CRDs are those that the old version has brought."},
}

// TestGallery plans upgrades of charts in ../shared/versions, and docs/gallery.md shows their
// plans. On the cluster, make test plans only the one with drift, make soak all of them.
func TestGallery(t *testing.T) {
	if _, err := os.Stat(inTree("..", "shared", "versions")); err != nil {
		t.Skipf("the charts of docs/gallery.md are not here: %v", err)
	}
	const shown, shownOnCluster = 40, 25
	var text strings.Builder
	fmt.Fprintf(&text, galleryIntro, shown, shownOnCluster)
	for _, g := range gallery {
		args := append([]string{"plan", "r", g.to + ".tgz", "--offline", "--against", g.from + ".tgz"}, strings.Fields(g.flags)...)
		exhibit(&text, fmt.Sprintf("%s %s → %s", g.chart, g.from, g.to), g.look, args, firstLines(inGallery(t, g.chart, args), shown))
	}
	file := inTree("docs", "gallery.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range galleryOnCluster {
		title := fmt.Sprintf("%s %s → %s on a cluster", g.chart, g.from, g.to)
		if !*soak && !*update && g.byHand == "" {
			text.WriteString(sectionOf(string(page), title))
			continue
		}
		before := crds(t)
		inGallery(t, g.chart, []string{"install", "r", g.from + ".tgz", "-n", g.namespace, "--create-namespace"})
		if g.byHand != "" {
			cluster.Kubectl(t, append(strings.Fields(g.byHand), "-n", g.namespace)...)
			cluster.Kubectl(t, "rollout", "status", "statefulset", "-n", g.namespace, "--timeout=10m") // the claims are created one after the other
		}
		args := []string{"plan", "r", g.to + ".tgz", "-n", g.namespace}
		printed := port.ReplaceAllString(inGallery(t, g.chart, args), "$1:6443")
		exhibit(&text, title, g.look, args, firstLines(printed, shownOnCluster))
		inGallery(t, g.chart, []string{"uninstall", "r", "-n", g.namespace})
		cluster.Kubectl(t, "delete", "namespace", g.namespace, "--wait=false")
		removeNewCRDs(t, before)
	}
	text.WriteString(gallerySet(t))
	text.WriteString(sectionOf(string(page), fleetTitle))
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(page), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("%s is not what is printed (-update writes it anew):\n%s", file, diff)
	}
}

// sectionOf returns a section of the page as it is now, with its title.
func sectionOf(page, title string) string {
	_, rest, found := strings.Cut(page, "\n## "+title+"\n")
	if !found {
		return ""
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return "\n## " + title + "\n" + body
}

// fleetTitle is the title of the section that TestGalleryShowsAFleet of internal/command checks.
const fleetTitle = "120 releases of a repository"

// port matches the port of the control plane, which is different each time.
var port = regexp.MustCompile(`(127\.0\.0\.1):\d+`)

// inGallery runs the program in the folder of a chart's archives, so that commands look as
// people type them.
func inGallery(t *testing.T, chart string, args []string) string {
	t.Helper()
	command := fmt.Sprintf(`cd %q && COLUMNS=100 exec "$0" "$@"`, inTree("..", "shared", "versions", chart))
	r := cluster.Run(t, "sh", "", append([]string{"-c", command, clustertest.Program(t)}, args...)...)
	if r.ExitCode != 0 {
		t.Fatalf("%s: %v: exit code %d\n%s", chart, args, r.ExitCode, r.Stderr)
	}
	return r.Stdout
}

// exhibit writes a section of the gallery.
func exhibit(to io.Writer, title, look string, args []string, printed string) {
	fmt.Fprintf(to, "\n## %s\n\n%s\n\n```console\n$ kubectl release %s\n%s```\n", title, look, strings.Join(args, " "), printed)
}

// firstLines returns the first n lines, and the number of further ones.
func firstLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= n+1 {
		return text
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("[… %d more lines]\n", len(lines)-1-n)
}
