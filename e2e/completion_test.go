//go:build cluster

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// shells are the shells in which the completion scripts are tested: how they are started
// without user settings, and how they load a script that a program prints.
// PowerShell is not among them (docs/limits.md): internal/command tests its script against
// the protocol.
var shells = map[string]struct {
	start  []string
	set    string
	script func(program, shell string) string
	show   string
}{
	"bash": {
		start: []string{"bash", "--norc", "--noprofile", "-i"}, set: "PS1='> '; . /usr/share/bash-completion/bash_completion",
		script: func(program, shell string) string { return fmt.Sprintf("source <(%s completion %s)", program, shell) },
		show:   `line() { printf 'LINE[%s]\n' "$*"; }`,
	},
	"zsh": {
		start: []string{"zsh", "-f", "-i"}, set: "PS1='> '; autoload -U compinit; compinit -u -D; bindkey -e",
		script: func(program, shell string) string { return fmt.Sprintf("source <(%s completion %s)", program, shell) },
		show:   `line() { printf 'LINE[%s]\n' "$*"; }`,
	},
	"fish": {
		start: []string{"fish", "--no-config", "-i"}, set: "function fish_prompt; echo '> '; end",
		script: func(program, shell string) string { return fmt.Sprintf("%s completion %s | source", program, shell) },
		show:   `function line; printf 'LINE[%s]\n' "$argv"; end`,
	},
}

// completions maps what is typed before TAB to the line that it becomes.
var completions = map[string]string{
	"upgr":                                  "upgrade",
	"status only-r":                         "status only-release",
	"rollback only-release ":                "rollback only-release 1",
	"get values only-release --revision ":   "get values only-release --revision 1",
	"status -n NAMESPACE-HALF":              "status -n NAMESPACE",
	"list --context tes":                    "list --context testcluster",
	"plan web . --only Stateful":            "plan web . --only StatefulSet",
	"plan web . -o markd":                   "plan web . -o markdown",
	"install web . --wait=wat":              "install web . --wait=watcher",
	"install web . --atom":                  "install web . --atomic",
	"install web sho":                       "install web shop",
	"install web stable/w":                  "install web stable/web",
	"upgrade web stable/web --version ":     "upgrade web stable/web --version 1.2.0",
	"registry logout gh":                    "registry logout ghcr.io",
	"upgrade only-release ./sho":            "upgrade only-release ./shop",
	"install web shop -f val":               "install web shop -f values-of-prod.yaml",
	"upgrade only-release shop --deny dele": "upgrade only-release shop --deny delete",
}

// A11: TAB completes releases, revisions, namespaces, contexts, kinds, charts and flag
// values, in the common shells, both for the program and for the kubectl plugin.
func TestTabCompletesInRealShells(t *testing.T) {
	t.Parallel()
	namespace, folder := cluster.Namespace(t), t.TempDir()
	clustertest.WriteFiles(t, folder, map[string]string{
		"shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n", "values-of-prod.yaml": "",
		"repositories.yaml":       "repositories: [{name: stable, url: https://example.com/stable}]\n",
		"cache/stable-charts.txt": "web\nother\n",
		"registry.json":           `{"auths": {"ghcr.io": {"auth": "dTpw"}}}`,
		"cache/stable-index.yaml": "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.2.0, urls: [web-1.2.0.tgz]}\n",
	})
	tools := pluginFolder(t)
	if r := cluster.Run(t, clustertest.Program(t), "", "install", "only-release", filepath.Join(folder, "shop"), "-n", namespace); r.ExitCode != 0 {
		t.Fatal(r.Stderr)
	}
	script := cluster.Run(t, clustertest.Program(t), "", "completion", "kubectl").Stdout
	if err := os.WriteFile(filepath.Join(tools, "kubectl_complete-release"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for shell, s := range shells {
		for program, command := range map[string]string{"kubectl-release": "kubectl-release", "kubectl": "kubectl release"} {
			t.Run(shell+"/"+program, func(t *testing.T) {
				t.Parallel()
				there(t, s.start[0])
				c := exec.CommandContext(t.Context(), s.start[0], s.start[1:]...)
				c.Dir = folder
				c.Env = append(cluster.Environment(), "PATH="+tools+":"+os.Getenv("PATH"), "HELM_NAMESPACE="+namespace, "TERM=xterm", "HOME="+t.TempDir(),
					"HELM_REPOSITORY_CONFIG="+filepath.Join(folder, "repositories.yaml"), "HELM_REPOSITORY_CACHE="+filepath.Join(folder, "cache"),
					"HELM_REGISTRY_CONFIG="+filepath.Join(folder, "registry.json"))
				session := startSession(t, c)
				session.say(s.set + "\n" + s.show + "\n" + s.script(program, shell) + "\nline ready\n")
				session.until("ready")
				for typed, want := range completions {
					typed = strings.ReplaceAll(typed, "NAMESPACE-HALF", namespace[:len(namespace)-3])
					want = command + " " + strings.ReplaceAll(want, "NAMESPACE", namespace)
					// Ctrl-A goes to the beginning of the line, so that the line is printed, not run.
					session.say(command + " " + typed + "\t")
					session.say("\x01line \n")
					if got := session.until(command); got != want {
						t.Errorf("%s %s<TAB> becomes %q, want %q", command, typed, got, want)
					}
				}
			})
		}
	}
}

// there skips the test if the machine lacks a shell, or fails it in CI; make test installs shells where it can.
func there(t *testing.T, shell string) {
	t.Helper()
	_, err := exec.LookPath(shell)
	if err == nil && shell == "bash" {
		_, err = os.Stat("/usr/share/bash-completion/bash_completion")
	}
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("%s, or its package bash-completion, is missing: completion in it is not tested (%v)", shell, err)
	default:
		t.Skipf("%s, or its package bash-completion, is missing: completion in it is not tested (%v)", shell, err)
	}
}

// session is a shell on a terminal.
type session struct {
	t     *testing.T
	tty   io.Writer
	lines chan string
}

func startSession(t *testing.T, c *exec.Cmd) *session {
	t.Helper()
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 50, Cols: 250})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, tty: tty, lines: make(chan string, 100)}
	t.Cleanup(func() {
		_ = tty.Close()
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	go func() {
		defer close(s.lines)
		for all := bufio.NewScanner(tty); all.Scan(); {
			if found := printed.FindStringSubmatch(all.Text()); found != nil {
				s.lines <- found[1]
			}
		}
	}()
	return s
}

// printed matches what the shell function named line prints, but not its definition or its call.
var printed = regexp.MustCompile(`LINE\[([a-z][^\]%]*)\]`)

func (s *session) say(keys string) { _, _ = io.WriteString(s.tty, keys) }

// until waits for a printed line with this beginning, and returns it.
func (s *session) until(beginning string) string {
	s.t.Helper()
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				s.t.Fatal("the shell has ended")
			}
			// zsh removes a folder's trailing / when the cursor leaves it.
			if line = strings.TrimRight(line, " /"); strings.HasPrefix(line, beginning) {
				return line
			}
		case <-time.After(5 * time.Minute):
			s.t.Fatalf("nothing that begins with %q is printed", beginning)
		}
	}
}
