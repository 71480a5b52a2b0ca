package invocation_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/invocation"
)

// Hints name the program as it was called.
func TestName(t *testing.T) {
	for name, test := range map[string]struct{ arg0, helm, underscore, want string }{
		"on its own":                      {"kubectl-release", "", "/usr/local/bin/kubectl-release", "kubectl-release"},
		"by a relative path":              {"./bin/kubectl-release", "", "./bin/kubectl-release", "./bin/kubectl-release"},
		"by an absolute path":             {"/opt/kubectl-release", "", "/opt/kubectl-release", "/opt/kubectl-release"},
		"by kubectl":                      {"/usr/local/bin/kubectl-release", "", "/usr/bin/kubectl", "kubectl release"},
		"by kubectl, from a program":      {"/usr/local/bin/kubectl-release", "", "", "kubectl release"},
		"by kubectl, on Windows":          {"/bin/kubectl-release.exe", "", "", "kubectl release"},
		"by Helm":                         {"/home/a/plugins/release/bin/kubectl-release", "release", "/usr/bin/helm", "helm release"},
		"under another name":              {"/opt/kr", "", "", "/opt/kr"},
		"from a folder with a space":      {"./my tools/kubectl-release", "", "", "'./my tools/kubectl-release'"},
		"by a program that gives no name": {"", "", "", "kubectl release"},
	} {
		if got := invocation.Name(test.arg0, test.helm, test.underscore); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// What a hint shows is one command in a shell, whatever names are in it.
func TestCommandIsReadByAShellAsItIs(t *testing.T) {
	i := invocation.Invocation{Program: "printf '%s\\n'", Flags: []string{"--namespace", "a b", "--context", `it's "$HOME" \`}}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", i.Command("status", "web;id", "", "*")).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"status", "web;id", "", "*", "--namespace", "a b", "--context", `it's "$HOME" \`}
	if got := strings.TrimSuffix(string(out), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the shell reads %q", got)
	}
}

func TestCommandNamesTheNamespaceWhereThereIsOne(t *testing.T) {
	shop := invocation.Invocation{Flags: []string{"--namespace", "shop", "--context", "prod"}}
	for got, want := range map[string]string{
		invocation.Invocation{}.Command("list"):          "kubectl release list",
		shop.Command("status", "web"):                    "kubectl release status web --namespace shop --context prod",
		shop.Command("list", "--all-namespaces"):         "kubectl release list --all-namespaces --context prod",
		shop.WithoutNamespace().Command("apply", "plan"): "kubectl release apply plan --context prod",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
