package command

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

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
		Description: describe(`Prints the program's version and that of its plan format; as JSON also the commit and the
modules that it is built from. --version without a command does the same.`, `kubectl release version -o json
kubectl release --version --short`),
		Flags: []cli.Flag{o.flag(), &cli.BoolFlag{Name: "short", Destination: &o.short, Usage: "print only the version"}, templateFlag(&o.template, `"{{.Version}} {{.GoVersion}}"`)},
		Action: p.readOnly(takes(0, 0, func(context.Context, []string) error {
			f, err := o.format()
			if err != nil {
				return err
			}
			switch text := o.template; {
			case text != "":
				return fill(p.streams.Out, text, buildInfo())
			case f != "text":
				return p.structured(f, aboutProgram())
			case o.short:
				fmt.Fprintln(p.streams.Out, version())
			default:
				fmt.Fprintf(p.streams.Out, "kubectl-release %s, plan format %s, %s %s/%s\n", version(), plan.FormatVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			}
			return nil
		})),
	}
}

// version returns the version set by -X, or else that of the installed module, as with go
// install …@v1.2.3. A build from a checkout keeps Version with its -dev.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasSuffix(Version, "-dev") {
		return Version
	}
	tag := info.Main.Version
	if !semver.IsValid(tag) || module.IsPseudoVersion(tag) || semver.Build(tag) != "" {
		return Version
	}
	return strings.TrimPrefix(tag, "v")
}

// about is the output of version -o json.
type about struct {
	Version    string `json:"version"`
	PlanFormat string `json:"planFormat"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	// Commit, Date and Modified are known only for builds from a checkout.
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	// Modules are the modules that the program is built from.
	Modules []builtOf `json:"modules,omitempty"`
}

type builtOf struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"`
}

func aboutProgram() about {
	a := about{Version: version(), PlanFormat: plan.FormatVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return a
	}
	settings := settingsOf(info)
	a.Commit, a.Date, a.Modified = settings["vcs.revision"], settings["vcs.time"], settings["vcs.modified"] == "true"
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		a.Modules = append(a.Modules, builtOf{m.Path, m.Version, m.Sum})
	}
	return a
}

func settingsOf(info *debug.BuildInfo) map[string]string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return settings
}

// build is the data for version --template, with Helm's fields (Helm 4.3.1,
// internal/version/version.go).
type build struct{ Version, GitCommit, GitTreeState, GoVersion, KubeClientVersion string }

func buildInfo() build {
	b := build{Version: version(), GoVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	settings := settingsOf(info)
	b.GitCommit = settings["vcs.revision"]
	b.GitTreeState = map[string]string{"true": "dirty", "false": "clean"}[settings["vcs.modified"]]
	for _, module := range info.Deps {
		// Kubernetes 1.37 corresponds to client-go 0.37.
		if version, ok := strings.CutPrefix(module.Version, "v0."); ok && module.Path == "k8s.io/client-go" {
			b.KubeClientVersion = "v1." + version[:strings.Index(version+".", ".")]
		}
	}
	return b
}
