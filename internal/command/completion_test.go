package command

import (
	"bytes"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/completion"
	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// completed returns, as one line, what the program answers for a line whose last word is
// unfinished, including the directive.
func completed(t *testing.T, line string) string {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"kubectl-release", "__completeNoDesc"}, strings.Split(line, " ")...)
	if code := Main(t.Context(), nil, args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != exitDone || errs.Len() > 0 {
		t.Errorf("%q: exit code %d, %s", line, code, errs.String())
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// onThisMachine gives a test a kubeconfig for a cluster that nobody can reach, a repository,
// and a folder of charts to be in.
func onThisMachine(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kubeconfig": `{apiVersion: v1, kind: Config, current-context: dev,
clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: me, user: {token: x}}],
contexts: [{name: dev, context: {cluster: here, user: me}}, {name: prod, context: {cluster: here, user: me}}, {name: $(id), context: {cluster: here, user: me}}]}`,
		"repositories.yaml":       "repositories: [{name: stable, url: https://example.com/stable}, {name: stale, url: https://example.com/stale}]\n",
		"cache/stable-charts.txt": "web\nworker\nweb;id\n",
		"cache/stable-index.yaml": "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.2.0, urls: [web-1.2.0.tgz]}\n  - {apiVersion: v2, name: web, version: 1.10.0, urls: [web-1.10.0.tgz]}\n",
		"registry.json":           `{"auths": {"ghcr.io": {"auth": "dTpw"}, "127.0.0.1:5000": {}, "https://index.docker.io/v1/": {}}, "credHelpers": {"quay.io": "nope"}}`,
		"charts/shop/Chart.yaml":  "",
		"charts/shut.tgz":         "",
		"charts/shelf/notes":      "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "charts"))
	for variable, value := range map[string]string{
		"KUBECONFIG": "kubeconfig", "HELM_REPOSITORY_CONFIG": "repositories.yaml", "HELM_REPOSITORY_CACHE": "cache", "HELM_REGISTRY_CONFIG": "registry.json", "HOME": "",
	} {
		t.Setenv(variable, filepath.Join(dir, value))
	}
}

// A line is completed with what the command takes there: :4 says that no files are meant, :0
// leaves files to the shell, :16 means folders, :2 continues the same word, :8 means files
// with these extensions, and :32 keeps the order.
func TestALineIsCompletedByWhatComesNext(t *testing.T) {
	onThisMachine(t)
	for line, want := range map[string]string{
		"roll":                                 "rollback :4",
		"get val":                              "values :4",
		"plan r":                               "rollback :4",
		"no such command":                      ":4",
		"upgrade web . --unknown ":             ":4",
		"--context ":                           "dev prod :4",
		"--kube-context=p":                     "prod :4",
		"list --cluster h":                     "here :4",
		"list --user ":                         "me :4",
		"list --server ":                       ":4",
		"list -o ":                             "text json yaml :4",
		"list --output=j":                      "json :4",
		"plan web . -o ma":                     "markdown :4",
		"plan web . -o me":                     "mermaid :4",
		"plan many . -o me":                    ":4",
		"plan many . -o ma":                    "markdown :4",
		"apply many plans -o ":                 "text json :4",
		"apply web . -o ma":                    "markdown :4",
		"install web . -o ":                    "text json yaml :4",
		"install web . --dry-run=server -o ma": "markdown :4",
		"plan graph web.plan -o ":              "mermaid dot :4",
		"install web . --wait=":                "true false watcher hookOnly legacy :4",
		"upgrade web . --server-side=":         "auto true false :4",
		"uninstall web --cascade o":            "orphan :4",
		"install web . --dry-run=c":            "client :4",
		"list --color al":                      "always :4",
		"plan web . --only Stateful":           "StatefulSet :4",
		"upgrade web . --deny delete,s":        "delete,scale-down delete,stateful :4",
		"install web . --values ":              ":0",
		"install web . -f":                     ":4",
		"list --kubeconfig ":                   ":0",
		"template . --output-dir ":             ":16",
		"install web . --description ":         ":4",
		"install ":                             ":4",
		"install web sh":                       "shop shut.tgz :0",
		"install web ./sh":                     ":0",
		"install web st":                       "stable/ stale/ :2",
		"install web stable/w":                 "stable/web stable/worker :0",
		"install -g stable/web":                "stable/web :0",
		"template stable/wo":                   "stable/worker :0",
		"template web stable/wo":               "stable/worker :0",
		"install web stable/web --version ":    "1.10.0 1.2.0 :36",
		"show values stable/web --version 1.2": "1.2.0 :36",
		"pull stable/web stable/wo":            "stable/worker :0",
		"plan web . --against stable/w":        "stable/web stable/worker :0",
		"plan web . --against sh":              "shop shut.tgz :0",
		"repo remove sta":                      "stable stale :4",
		"repo add sta":                         ":4",
		"registry logout ":                     "127.0.0.1:5000 docker.io ghcr.io quay.io :4",
		"registry logout g":                    "ghcr.io :4",
		"registry logout ghcr.io ":             ":4",
		"registry login ":                      ":4",
		"push ":                                "tgz :8",
		"push char":                            "tgz :8",
		"package ":                             ":16",
		"plan show ":                           ":0",
		"completion ":                          "bash zsh fish powershell kubectl :4",
		"env HELM_REPOSITORY_":                 "HELM_REPOSITORY_CACHE HELM_REPOSITORY_CONFIG :4",
		"history web --max 3 --show":           "--show-rollback-revision :4",
		"list --short --shor":                  ":4",
		"history --help --show":                "--show-rollback-revision :4",
		"help histo":                           "history :4",
		"help plan sho":                        "show :4",
		"history -h --show":                    "--show-rollback-revision :4",
		"help histery ":                        ":4",
		"status ":                              ":4",
	} {
		if diff := cmp.Diff(want, completed(t, line)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", line, diff)
		}
	}
}

// A cluster that hangs up is asked once: more attempts would keep whoever pressed TAB waiting.
func TestCompletionAsksAnUnreachableClusterOnce(t *testing.T) {
	onThisMachine(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var asked atomic.Int32
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			connection.Close()
		}
	}()
	server := "--server http://" + listener.Addr().String()
	for _, line := range []string{"status " + server + " ", "list " + server + " --namespace ", "rollback " + server + " web "} {
		asked.Store(0)
		if got := completed(t, line); got != ":4" || asked.Load() != 1 {
			t.Errorf("%q: %q after %d connections, want no words after one", line, got, asked.Load())
		}
	}
}

// The versions of a chart in a registry are its tags, both for --version and in the reference.
func TestChartsOfRegistriesAreCompletedWithTheirVersions(t *testing.T) {
	onThisMachine(t)
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.Put("/v2/charts/web/tags/list", []byte(`{"name":"charts/web","tags":["1.2.0","1.10.0","2.0.0-rc.1","latest"]}`))
	chart := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/web"
	for line, want := range map[string]string{
		"install web " + chart + " --version ":  "2.0.0-rc.1 1.10.0 1.2.0 :36",
		"install web " + chart + " --version 1": "1.10.0 1.2.0 :36",
		"install web " + chart + ":1.2":         chart + ":1.2.0 :36",
		"install web " + chart:                  ":4",
		"install web oci://nowhere":             ":4",
		"install web " + chart + "x:":           ":36",
	} {
		if diff := cmp.Diff(want, completed(t, line)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", line, diff)
		}
	}
}

// The registries to log out of include those of the credential helper that Helm's file names;
// a helper that fails or prints something else has none.
func TestLogoutIsCompletedByTheHelpersList(t *testing.T) {
	onThisMachine(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := os.WriteFile(os.Getenv("HELM_REGISTRY_CONFIG"), []byte(`{"credsStore": "test"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		`test "$1" = list && echo '{"ghcr.io": "ci", "quay.io": "ci", "$(id)": "x"}'`: "ghcr.io quay.io :4",
		`echo '{"ghcr.io": "ci"}'; exit 1`:                                            ":4",
		`echo no list`:                                                                ":4",
	} {
		if err := os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		if got := completed(t, "registry logout "); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// Whatever the line, the answer is candidates and a directive: no usage text, no error.
func TestEveryCommandIsCompletedWithoutAWordOfItsOwn(t *testing.T) {
	onThisMachine(t)
	t.Setenv("KUBECONFIG", "/nowhere") // nobody is asked, and nobody waits
	for path := range commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "") {
		for _, last := range []string{" ", " --", " a b c d ", " --namespace", " -n", " --timeout x --"} {
			var out bytes.Buffer
			args := append([]string{"kubectl-release", "__complete"}, strings.Split(path+last, " ")...)
			Main(t.Context(), nil, args, Streams{In: strings.NewReader(""), Out: &out, Err: &out})
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			for _, line := range lines[:len(lines)-1] {
				if word, _, _ := strings.Cut(line, "\t"); len(strings.Fields(word)) != 1 {
					t.Errorf("%s: %q", path+last, line)
				}
			}
			if directive := lines[len(lines)-1]; !strings.HasPrefix(directive, ":") {
				t.Errorf("%s ends with %q", path+last, directive)
			}
		}
	}
}

// Flags are offered once, repeatable ones again, each with its meaning.
func TestFlagsAreCompletedWithWhatTheyMean(t *testing.T) {
	var out bytes.Buffer
	Main(t.Context(), nil, []string{"kubectl-release", "__complete", "list", "--filter", "a", "--fil", "--f"}, Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	if out.String() != ":4\n" {
		t.Errorf("after an unknown flag: %q", out.String())
	}
	out.Reset()
	Main(t.Context(), nil, []string{"kubectl-release", "__complete", "install", "--set", "a=b", "--atomic", "--"}, Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	if !strings.Contains(out.String(), "\n--set\tKEY=VALUE, separated by commas (repeatable)\n") {
		t.Error("--set can be repeated")
	}
	for _, not := range []string{"\n--atomic", "--rollback-on-failure", "--disable-openapi-validation"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%s is offered", not)
		}
	}
}

// Each script registers for the program's name and queries the program in the form that it
// answers. None of our machines has PowerShell (docs/limits.md): its script is cobra's, as
// those of kubectl and Helm are, and is held to that here.
func TestCompletionScriptsAskTheProgram(t *testing.T) {
	registered := map[string]string{
		"bash": "complete -o default -F __start_kubectl-release kubectl-release", "zsh": "compdef _kubectl-release kubectl-release",
		"fish": "complete -c kubectl-release ", "powershell": "Register-ArgumentCompleter -CommandName 'kubectl-release'", "kubectl": `exec kubectl-release __complete`,
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(registered)), slices.Sorted(maps.Keys(completion.Scripts()))); diff != "" {
		t.Fatalf("-tested +there are:\n%s", diff)
	}
	for shell, registers := range registered {
		for flag, request := range map[string]string{"": "__complete ", "--no-descriptions": "__completeNoDesc "} {
			var out, errs bytes.Buffer
			args := slices.DeleteFunc([]string{"kubectl-release", "completion", shell, flag}, func(a string) bool { return a == "" })
			if code := Main(t.Context(), nil, args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != exitDone {
				t.Fatalf("completion %s: %s", shell, errs.String())
			}
			if script := out.String(); !strings.Contains(script, strings.TrimSuffix(registers, "__complete")) || !strings.Contains(script, request) {
				t.Errorf("completion %s %s does not ask by %q", shell, flag, request)
			}
		}
	}
}
