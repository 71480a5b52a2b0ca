package command

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/plan"
)

func (p *program) versionCommand() *cli.Command {
	var o struct {
		outputFlags
		short    bool
		template string
	}
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: describe("Prints the program's version and that of its plan format.", "kubectl release version -o json"),
		Flags:       []cli.Flag{o.flag(), &cli.BoolFlag{Name: "short", Destination: &o.short, Usage: "only the version"}, templateFlag(&o.template, `"{{.Version}} {{.GoVersion}}"`)},
		Action: p.readOnly(takes(0, 0, func(context.Context, []string) error {
			f, err := o.format()
			if err != nil {
				return err
			}
			switch text := o.template; {
			case text != "":
				return fill(p.streams.Out, text, buildInfo())
			case f != "text":
				return p.structured(f, map[string]string{
					"version": Version, "planFormat": plan.FormatVersion, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			case o.short:
				fmt.Fprintln(p.streams.Out, Version)
			default:
				fmt.Fprintf(p.streams.Out, "kubectl-release %s, plan format %s, %s %s/%s\n", Version, plan.FormatVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			}
			return nil
		})),
	}
}

// build is the program in the words of Helm's version --template.
type build struct{ Version, GitCommit, GitTreeState, GoVersion, KubeClientVersion string }

func buildInfo() build {
	b := build{Version: Version, GoVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.GitCommit = settings["vcs.revision"]
	b.GitTreeState = map[string]string{"true": "dirty", "false": "clean"}[settings["vcs.modified"]]
	for _, module := range info.Deps {
		// Kubernetes 1.37 is client-go 0.37.
		if version, ok := strings.CutPrefix(module.Version, "v0."); ok && module.Path == "k8s.io/client-go" {
			b.KubeClientVersion = "v1." + version[:strings.Index(version+".", ".")]
		}
	}
	return b
}
