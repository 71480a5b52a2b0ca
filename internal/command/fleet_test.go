package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fleetFiles declare the same releases: 40 applications, every tenth with a database, in three environments.
var fleetFiles = []string{"releases.yaml", "helmfile.yaml"}

// fleet makes a repository of 120 releases with a branch main, and changes to it.
func fleet(tb testing.TB) {
	tb.Helper()
	shop, err := filepath.Abs(filepath.Join("..", "..", "testdata", "charts", "shop"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Chdir(tb.TempDir())
	tb.Setenv("HOME", tb.TempDir())
	tb.Setenv("KUBECONFIG", "none")
	if err := os.CopyFS("charts/shop", os.DirFS(shop)); err != nil {
		tb.Fatal(err)
	}
	put(tb, "charts/db/Chart.yaml", "{apiVersion: v2, name: db, version: 1.0.0}\n")
	put(tb, "charts/db/templates/db.yaml", `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  serviceName: {{ .Values.service }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: db, image: "postgres:{{ .Values.image.tag }}", volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`)
	own := "version: 1\nclusters: {dev: {context: dev}, stage: {context: stage}, prod: {context: prod}}\n" +
		"defaults: {namespace: shop, createNamespace: true}\nreleases:\n"
	helmfile := "releases:\n"
	for i := range 40 {
		name, chart := fmt.Sprintf("app-%02d", i), "charts/shop"
		put(tb, "apps/"+name+".yaml", "motd: hello\n")
		if i%10 == 0 {
			chart = "charts/db"
			put(tb, "apps/"+name+".yaml", "service: db\n")
		}
		own += fmt.Sprintf("- {each: [dev, stage, prod], name: %s, cluster: \"${each}\", chart: %s, values: [common.yaml, \"env/${each}.yaml\", apps/%[1]s.yaml]}\n", name, chart)
		helmfile += fmt.Sprintf("{{- range list \"dev\" \"stage\" \"prod\" }}\n- {name: %s, namespace: shop, kubeContext: {{ . }}, chart: ./%s, values: [common.yaml, env/{{ . }}.yaml, apps/%[1]s.yaml]}\n{{- end }}\n", name, chart)
	}
	put(tb, "releases.yaml", own)
	put(tb, "helmfile.yaml", helmfile)
	put(tb, "common.yaml", "image: {tag: '1.9'}\n")
	for i, environment := range []string{"dev", "stage", "prod"} {
		put(tb, "env/"+environment+".yaml", fmt.Sprintf("replicas: %d\n", i+3))
	}
	commitMain(tb)
}

// commitMain makes a repository of the folder, with everything in it on the branch main.
func commitMain(tb testing.TB) {
	tb.Helper()
	for _, line := range []string{"init -q -b main", "add .", "-c user.name=a -c user.email=a@example.com commit -qm base"} {
		if out, err := exec.Command("git", strings.Fields(line)...).CombinedOutput(); err != nil {
			tb.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
}

// changeThree changes one application in all environments.
func changeThree(tb testing.TB) { put(tb, "apps/app-07.yaml", "motd: changed\n") }

// changeAll changes all releases, some of them more dangerously than others.
func changeAll(tb testing.TB) {
	put(tb, "common.yaml", "image: {tag: '2.0'}\n")
	put(tb, "env/stage.yaml", "replicas: 1\n")
	put(tb, "apps/app-07.yaml", "motd: ''\n")
	put(tb, "apps/app-20.yaml", "service: postgres\n")
}

func put(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// planFleet runs plan many on a file without a cluster.
func planFleet(tb testing.TB, file, flags string) answer {
	tb.Helper()
	var out, errs bytes.Buffer
	p := newProgram(Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "kubectl release")
	code := p.main(tb.Context(), nil, strings.Fields("kubectl-release plan many "+file+" --changed-since main --offline "+flags))
	return answer{code, out.String(), errs.String()}
}

// A helmfile and a releases.yaml that declare the same releases are planned alike.
func TestAFleetIsTheSameInBothFormats(t *testing.T) {
	fleet(t)
	own, other := planFleet(t, fleetFiles[0], "--print-set"), planFleet(t, fleetFiles[1], "--print-set")
	if diff := cmp.Diff(own.out, other.out); diff != "" || strings.Count(own.out, "- name: app-") != 120 {
		t.Errorf("-releases.yaml +helmfile.yaml:\n%s\n%s", diff, own.out)
	}
}

// Of 120 releases, the three that a change touches are planned and reported.
func TestAChangeOfThreeReleasesOfAFleet(t *testing.T) {
	fleet(t)
	changeThree(t)
	for _, file := range fleetFiles {
		a := planFleet(t, file, "-o markdown --detailed-exitcode")
		if a.code != exitChanges || a.err != "" {
			t.Errorf("%s: exit code %d\n%s", file, a.code, a.err)
		}
		for _, want := range []string{"### Plan of 120 releases: 3 change\n", "117 releases are not touched."} {
			if !strings.Contains(a.out, want) {
				t.Errorf("%s: %q is not in\n%s", file, want, a.out)
			}
		}
		if rows := fleetRows(a.out); len(rows) != 3 {
			t.Errorf("%s: rows of %v", file, rows)
		}
	}
}

// A change of all 120 fits into a comment, equal ones in one row that names them all. What may do the most
// harm comes first: what is blocked, then deletions, what data depends on, what gets fewer pods, and all
// else.
func TestAChangeOfAWholeFleet(t *testing.T) {
	fleet(t)
	changeAll(t)
	for _, file := range fleetFiles {
		a := planFleet(t, file, "-o markdown --detailed-exitcode")
		if a.code != exitError || a.err != "" {
			t.Errorf("%s: exit code %d\n%s", file, a.code, a.err)
		}
		if len(a.out) > 65000 {
			t.Errorf("%s: the comment has %d bytes", file, len(a.out))
		}
		if title := "### Plan of 120 releases: 3 blocked, 117 change\n"; !strings.Contains(a.out, title) {
			t.Errorf("%s: %q is not in\n%.1000s", file, title, a.out)
		}
		rows := fleetRows(a.out)
		if n := strings.Count(strings.Join(rows, ""), "`shop/app-"); n != 120 || len(rows) > 10 {
			t.Errorf("%s: %d rows of %d releases", file, len(rows), n)
		}
		var order []string
		for _, row := range rows {
			kind := fleetKind(row)
			if len(order) == 0 || order[len(order)-1] != kind {
				order = append(order, kind)
			}
		}
		if diff := cmp.Diff([]string{"blocked", "deletion", "data depends on", "scale-down", "others"}, order); diff != "" {
			t.Errorf("%s: -want +got:\n%s\n%s", file, diff, strings.Join(rows, "\n"))
		}
	}
}

// The releases.yaml that docs/pull-requests.md starts with works with the command below it,
// and the longer one declares what it seems to.
func TestPullRequestsPageStartsWithWhatWorks(t *testing.T) {
	page, err := os.ReadFile("../../docs/pull-requests.md")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := filepath.Abs(filepath.Join("..", "..", "testdata", "charts", "shop"))
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, 2)
	command := regexp.MustCompile("`kubectl release plan many releases.yaml --changed-since main --no-cluster (.*?)`").FindSubmatch(page)
	if len(files) < 2 || command == nil {
		t.Fatal("the page starts in another way")
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.CopyFS("chart", os.DirFS(shop)); err != nil {
		t.Fatal(err)
	}
	put(t, "prod.yaml", "replicas: 2\n")
	put(t, "releases.yaml", string(files[0][1]))
	put(t, "longer.yaml", string(files[1][1]))
	commitMain(t)
	put(t, "prod.yaml", "replicas: 3\n")
	if a := planFleet(t, "releases.yaml", string(command[1])); a.code != exitDone || !strings.Contains(a.out, "### Plan of 1 release: 1 changes\n") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := planFleet(t, "longer.yaml", "--print-set"); strings.Count(a.out, "- name: ") != 5 {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

var fleetRow = regexp.MustCompile("(?m)^\\| `shop/app-.*$")

func fleetRows(comment string) []string { return fleetRow.FindAllString(comment, -1) }

// fleetKind is what makes a row of the table dangerous.
func fleetKind(row string) string {
	for _, kind := range []string{"blocked", "deletion", "data depends on", "scale-down"} {
		if strings.Contains(row, kind) {
			return kind
		}
	}
	return "others"
}

// What a change of 3 releases and of all 120 takes:
//
//	go test ./internal/command -run '^$' -bench Fleet
func BenchmarkFleet(b *testing.B) {
	for _, change := range []struct {
		name, title string
		make        func(testing.TB)
	}{{"three", ": 3 change", changeThree}, {"all", ": 3 blocked, 117 change", changeAll}} {
		for _, file := range fleetFiles {
			b.Run(change.name+" of "+file, func(b *testing.B) {
				fleet(b)
				change.make(b)
				for b.Loop() {
					if a := planFleet(b, file, "-o markdown"); !strings.Contains(a.out, change.title) {
						b.Fatal(a)
					}
				}
			})
		}
	}
}
