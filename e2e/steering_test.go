//go:build cluster

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/creack/pty"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

const (
	// steering is text that moves the cursor, renames the window, rings the bell, clears
	// the screen, changes the text direction, or is invisible.
	steering = "\x1b[31m\x1b]0;owned\x07\x1b[2J\x7f\u009b31m\u0085\u061c\u200b\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\b\b"
	// inYAML is the part of it that YAML has escapes for, visible the part that YAML accepts
	// unescaped.
	inYAML  = `\e[31m\e]0;owned\a\e[2J\x7f\x9b31m\N\u061c\u200b\u200e\u200f\u202a\u202e\u2066\u2069\b\b`
	visible = "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"
)

const steeringHook = `apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {helm.sh/hook: "%s", helm.sh/hook-output-log-policy: "hook-succeeded,hook-failed"}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {testcluster.kubectl-release.dev/logs: "log ` + inYAML + `"}}
    spec: {restartPolicy: Never, containers: [{name: main, image: main:1}]}
`

// forge stores a record that no tool has written.
func forge(t *testing.T, namespace, name, manifest string) {
	t.Helper()
	hook := fmt.Sprintf(steeringHook, name+"-smoke", "test")
	data, err := json.Marshal(map[string]any{
		"name": name, "namespace": namespace, "version": 1, "manifest": manifest,
		"config": map[string]any{"key" + steering: "value" + steering, "password": "canary" + steering},
		"info": map[string]any{
			"status": "deployed" + steering, "description": "done" + steering, "notes": "notes\n" + steering,
			"first_deployed": "2026-01-01T00:00:00Z", "last_deployed": "2026-01-01T00:00:00Z",
		},
		"chart": map[string]any{
			"metadata": map[string]any{"apiVersion": "v2", "name": "web" + steering, "version": "1.0.0" + steering, "appVersion": "v1" + steering, "annotations": map[string]any{"a" + steering: steering}},
			"values":   map[string]any{"default" + steering: steering},
		},
		"hooks": []any{map[string]any{
			"name": name + "-smoke" + steering, "kind": "Job", "path": "web/templates/" + steering + ".yaml", "manifest": hook, "events": []any{"test"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(data)
	_ = w.Close()
	cluster.Apply(t, namespace, fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: sh.helm.release.v1.%[1]s.v1, labels: {owner: helm, name: %[1]s, status: deployed, version: "1"}}
type: helm.sh/release.v1
stringData: {release: %[2]s}
`, name, base64.StdEncoding.EncodeToString(packed.Bytes())))
}

// steeringChart writes a chart that has this text wherever a chart can have text.
func steeringChart(t *testing.T) string {
	t.Helper()
	return writeWebChart(t, map[string]string{
		"Chart.yaml":                     "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: \"" + inYAML + "\"\ndescription: \"" + inYAML + "\"\nhome: \"" + inYAML + "\"\n",
		"README.md":                      "# Read me\n" + steering,
		"values.yaml":                    "a: \"" + inYAML + "\" # " + visible + "\nfail: \"\"\n",
		"crds/crd.yaml":                  "# " + visible + "\n",
		"templates/NOTES.txt":            "Hello\n" + steering,
		"templates/fail.yaml":            "{{ if .Values.fail }}{{ fail (printf \"no: %s\" .Values.a) }}{{ end }}",
		"templates/config.yaml":          "# " + visible + "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}-c\"}\ndata: {a: {{ .Values.a | quote }}, \"b\": \"" + inYAML + "{{ .Values.b }}\"}\n",
		"templates/hook.yaml":            fmt.Sprintf(steeringHook, "{{ .Release.Name }}-hook", "post-install,post-upgrade"),
		"templates/smoke.yaml":           fmt.Sprintf(steeringHook, "{{ .Release.Name }}-smoke", "test"),
		"templates/" + visible + ".yaml": "",
	})
}

// writeWebChart writes a chart called web and returns its folder.
func writeWebChart(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "web")
	clustertest.WriteFiles(t, dir, map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n"})
	clustertest.WriteFiles(t, dir, files)
	return dir
}

// terminal runs the program on a terminal and returns what is sent to it.
func terminal(t *testing.T, namespace, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(clustertest.Program(t), args...)
	c.Dir = dir
	c.Env = append(cluster.Environment(), "HELM_NAMESPACE="+namespace, "TERM=xterm", "NO_COLOR=1")
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(tty) // fails when the program has ended
	_ = c.Wait()
	return out.String()
}

// ownMoves matches the cursor moves by which the program redraws lines while a run waits.
var ownMoves = regexp.MustCompile(`\x1b\[\d+A\r\x1b\[J`)

// steers returns the first thing sent to a terminal that must not be there, with its surroundings.
func steers(sent string) string {
	sent = strings.ReplaceAll(ownMoves.ReplaceAllString(sent, ""), "\r\n", "\n")
	at := strings.IndexFunc(sent, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
	})
	if at < 0 {
		return ""
	}
	return fmt.Sprintf("%.60q", sent[max(0, at-30):])
}

// Whatever a chart or a forged record contains, no command lets it control the terminal.
func TestNothingOfAChartOrARecordSteersATerminal(t *testing.T) {
	t.Parallel()
	namespace, chart, dir := cluster.Namespace(t), steeringChart(t), t.TempDir()
	good := "# Source: web/templates/c.yaml\n# " + visible + "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: forged-c}\ndata: {a: \"" + inYAML + "\"}\n"
	forge(t, namespace, "forged", good)
	forge(t, namespace, "broken", "a: [\n"+steering)
	commands := steeringCommands(chart)
	for _, name := range leafCommands(t) {
		if !slices.ContainsFunc(commands, func(c []string) bool { return strings.HasPrefix(strings.Join(c, " ")+" ", name+" ") }) {
			t.Errorf("%s is not run by this test", name)
		}
	}
	saw := 0
	for _, args := range commands {
		sent := terminal(t, namespace, dir, args...)
		if found := steers(sent); found != "" {
			t.Errorf("%s: %s", strings.Join(args, " "), found)
		}
		if strings.Contains(sent, `\x1b[31m`) || strings.Contains(sent, `\u001b[31m`) || strings.Contains(sent, `\e[31m`) {
			saw++
		}
	}
	if saw < len(commands)/2 {
		t.Errorf("only %d of %d commands have anything to show of it: this test hardly can fail", saw, len(commands))
	}
}

func steeringCommands(chart string) [][]string {
	var out [][]string
	add := func(lines ...string) {
		for _, line := range lines {
			out = append(out, strings.Fields(line))
		}
	}
	formats := []string{"", "-o json"}
	if *soak {
		formats = append(formats, "-o yaml")
	}
	for _, o := range formats {
		add("list --all "+o, "plan new "+chart+" "+o)
		for _, name := range []string{"forged", "broken"} {
			add("status "+name+" "+o, "history "+name+" "+o, "plan "+name+" "+chart+" "+o, "plan uninstall "+name+" "+o)
			for _, part := range []string{"values", "values --all", "metadata", "all"} {
				add("get " + part + " " + name + " " + o)
			}
		}
	}
	for _, name := range []string{"forged", "broken"} {
		add("get manifest "+name, "get hooks "+name, "get notes "+name, "get all "+name+" --revision 1", "status "+name+" --show-chart -o json")
	}
	add("list --all -q", "unlock forged", "version", "options", "approvals --all-namespaces", "completion bash", "plan new "+chart+" --full", "plan new "+chart+" --show-secrets",
		"plan new "+chart+" --set fail=1", "plan new "+chart+" --out new.plan", "plan show new.plan", "plan graph new.plan", "plan check new.plan", "plan statement new.plan", "plan many releases.yaml", "apply many plans",
		"template new "+chart, "template new "+chart+" --set fail=1", "template new "+chart+" --validate", "lint "+chart,
		"show chart "+chart, "show values "+chart, "show readme "+chart, "show crds "+chart, "show all "+chart,
		"install new "+chart+" --wait", "apply new "+chart+" --set b=1 --yes", "upgrade new "+chart+" --set b=2", "upgrade new "+chart+" --set b=3 -o json",
		"test new --logs", "plan rollback new", "rollback new", "uninstall new",
		"test forged --logs", "upgrade forged "+chart+" --set b=2 --take-ownership", "plan rollback forged 1", "rollback forged 1 --take-ownership", "uninstall forged", "uninstall broken")
	add("repo add r http://127.0.0.1:1", "repo update", "repo list", "repo remove r", "pull r/web", "package "+chart,
		"push "+chart+" oci://127.0.0.1:1/charts", "registry login 127.0.0.1:1 --username a --password b", "registry logout 127.0.0.1:1",
		"repo index .", "search repo web", "search hub web --endpoint http://127.0.0.1:1", "search oci://127.0.0.1:1/charts/web", "cache list", "cache prune --dry-run", "create made", "env",
		"dependency list "+chart, "dependency update "+chart, "dependency build "+chart, "verify "+chart, "chart bundle "+chart)
	add("comment plan.md --to github", "check plan.sarif --to github")
	return out
}

// leafCommands returns all commands in docs/cli.md that have no subcommands.
func leafCommands(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(inTree("docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^## kubectl release ([a-z ]*[a-z])\b(.*)$`).FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(found[2], "|") || strings.Contains(found[2], "FILE") {
			names = append(names, strings.TrimSpace(found[1]))
		}
	}
	if len(names) == 0 {
		t.Fatal("docs/cli.md names no command")
	}
	return names
}

// Output that other programs read byte by byte goes unchanged into a file or a pipe.
func TestContentIsExactInAPipe(t *testing.T) {
	t.Parallel()
	namespace, program := cluster.Namespace(t), clustertest.Program(t)
	manifest := "# \x1b[31m" + visible + "\r\n"
	forge(t, namespace, "forged", manifest)
	if r := cluster.Run(t, program, "", "get", "manifest", "forged", "-n", namespace); r.Stdout != manifest+"\n" {
		t.Errorf("get manifest: %q", r.Stdout)
	}
	r := cluster.Run(t, program, "", "get", "values", "forged", "-n", namespace)
	var values map[string]string
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(r.Stdout, "USER-SUPPLIED VALUES:\n")), &values); err != nil || values["password"] != "canary"+steering {
		t.Errorf("get values: %q %s, %v", r.Stdout, r.Stderr, err)
	}
	chart := writeWebChart(t, map[string]string{"templates/a.yaml": "# " + visible + "\na: b\n", "README.md": steering})
	if r := cluster.Run(t, program, "", "template", "x", chart); !strings.Contains(r.Stdout, visible) {
		t.Errorf("template: %q", r.Stdout)
	}
	if r := cluster.Run(t, program, "", "show", "readme", chart); r.Stdout != steering+"\n" {
		t.Errorf("show readme: %q", r.Stdout)
	}
}
