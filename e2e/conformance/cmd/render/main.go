// Command render is a minimal `template` command: it renders a chart with
// the project's own packages and prints it. Conformance uses it to compare them
// without the product around them. It has no other commands.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/kubectl-release/kubectl-release/e2e/conformance/local"
)

// list is a flag that can be given several times.
type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	if len(os.Args) < 4 || os.Args[1] != "template" {
		fmt.Fprintln(os.Stderr, "usage: render template NAME CHART [flags]")
		os.Exit(2)
	}
	r := local.Request{Release: os.Args[2], Chart: os.Args[3]}
	f := flag.NewFlagSet("render", flag.ExitOnError)
	f.StringVar(&r.Namespace, "namespace", "default", "namespace of the release")
	f.StringVar(&r.KubeVersion, "kube-version", "", "Kubernetes version")
	f.BoolVar(&r.IncludeCRDs, "include-crds", false, "print crds/ too")
	notes := f.Bool("notes", false, "print the notes instead of the manifest")
	f.Var((*list)(&r.Values.Files), "f", "values file")
	f.Var((*list)(&r.Values.Set), "set", "")
	f.Var((*list)(&r.Values.String), "set-string", "")
	f.Var((*list)(&r.Values.JSON), "set-json", "")
	f.Var((*list)(&r.Values.Literal), "set-literal", "")
	f.Var((*list)(&r.Values.File), "set-file", "")
	if err := f.Parse(os.Args[4:]); err != nil {
		os.Exit(2)
	}
	out, err := local.Render(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	if *notes {
		fmt.Print(out.Notes)
		return
	}
	fmt.Print(out.Text())
}
