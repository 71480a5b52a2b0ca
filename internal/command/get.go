package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// getFlags are the flags of get. Each subcommand declares those that it uses.
type getFlags struct {
	readFlags
	computed bool
	template string
}

// stored returns a function that reads a revision and prints it with print.
func (p *program) stored(o *getFlags, print func(*getFlags, io.Writer, *release.Revision) error) func(context.Context, *session, string) error {
	return func(ctx context.Context, s *session, name string) error {
		r, err := o.read(ctx, s, name)
		if err != nil {
			return err
		}
		return print(o, terminal.Content(p.raw.Out), r)
	}
}

func (p *program) getCommand() *cli.Command {
	var o getFlags
	get := func(name, usage string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "NAME",
			Description: describe("Prints what is stored for a revision, exactly as it is stored, including secrets.", "kubectl release get "+name+" web --revision 3"),
			Flags:       append([]cli.Flag{o.revisionFlag()}, flags...),
			Action:      p.readOnly(action),
		}
	}
	return &cli.Command{
		Name: "get", Usage: "print what is stored for a release", ArgsUsage: "values|manifest|hooks|notes|metadata|all NAME",
		Description: describe("Prints parts of a release's record.", "kubectl release get values web\nkubectl release get manifest web --revision 3"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{
			get("values", "print a release's values", p.onReleaseAs(&o.outputFlags, p.stored(&o, getValues)), o.flag(), &cli.BoolFlag{Name: "all", Destination: &o.computed, Aliases: []string{"a"}, Usage: "include the chart's defaults"}),
			get("manifest", "print a release's manifest", p.onRelease(p.stored(&o, func(_ *getFlags, w io.Writer, r *release.Revision) error {
				_, err := fmt.Fprintln(w, r.Manifest)
				return err
			}))),
			get("hooks", "print a release's hooks", p.onRelease(p.stored(&o, func(_ *getFlags, w io.Writer, r *release.Revision) error { return printHooks(w, r) }))),
			get("notes", "print a release's notes", p.onRelease(p.stored(&o, func(_ *getFlags, w io.Writer, r *release.Revision) error {
				if r.Info.Notes == "" {
					return nil
				}
				_, err := fmt.Fprintf(w, "NOTES:\n%s\n", r.Info.Notes)
				return err
			}))),
			get("metadata", "print a release's metadata", p.onReleaseAs(&o.outputFlags, p.stored(&o, getMetadata)), o.flag()),
			get("all", "print everything about a release", p.onReleaseAs(&o.outputFlags, p.stored(&o, getAll)), o.flag(), templateFlag(&o.template, `"{{.Release.Name}} {{.Release.Info.Status}}"`)),
		},
	}
}

func getValues(o *getFlags, w io.Writer, r *release.Revision) error {
	table := r.Config
	if o.computed {
		var err error
		if table, err = values.Coalesce(r.Chart, r.Config); err != nil {
			return err
		}
	}
	f, err := o.format()
	if err != nil {
		return err
	}
	if f != "text" {
		return structured(w, f, table)
	}
	heading := "USER-SUPPLIED VALUES:"
	if o.computed {
		heading = "COMPUTED VALUES:"
	}
	return printYAML(w, heading, table)
}

func printYAML(w io.Writer, heading string, value any) error {
	if _, err := fmt.Fprintln(w, heading); err != nil {
		return err
	}
	return structured(w, "yaml", value)
}

func printHooks(w io.Writer, r *release.Revision) error {
	for _, h := range r.Hooks {
		if _, err := fmt.Fprintf(w, "---\n# Source: %s\n%s\n", h.Path, h.Manifest); err != nil {
			return err
		}
	}
	return nil
}

// metadata is a revision in the form of helm get metadata -o json (Helm 4.3.1,
// pkg/action/get_metadata.go).
type metadata struct {
	Name         string              `json:"name"`
	Chart        string              `json:"chart"`
	Version      string              `json:"version"`
	AppVersion   string              `json:"appVersion"`
	Annotations  map[string]string   `json:"annotations,omitempty"`
	Labels       map[string]string   `json:"labels,omitempty"`
	Dependencies []*chart.Dependency `json:"dependencies,omitempty"`
	Namespace    string              `json:"namespace"`
	Revision     int                 `json:"revision"`
	Status       string              `json:"status"`
	DeployedAt   string              `json:"deployedAt"`
	ApplyMethod  string              `json:"applyMethod,omitempty"`
}

func describeRevision(r *release.Revision) metadata {
	m := metadata{
		Name: r.Name, Namespace: r.Namespace, Revision: r.Version, Status: string(r.Info.Status), Labels: r.Labels,
		DeployedAt: r.Info.LastDeployed.Format("2006-01-02T15:04:05Z07:00"), ApplyMethod: string(r.ApplyMethod),
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		meta := r.Chart.Metadata
		m.Chart, m.Version, m.AppVersion = meta.Name, meta.Version, meta.AppVersion
		m.Annotations, m.Dependencies = meta.Annotations, meta.Dependencies
	}
	return m
}

func getMetadata(o *getFlags, w io.Writer, r *release.Revision) error {
	f, err := o.format()
	if err != nil {
		return err
	}
	m := describeRevision(r)
	if f != "text" {
		return structured(w, f, m)
	}
	var dependencies []string
	for _, d := range m.Dependencies {
		dependencies = append(dependencies, d.Name)
	}
	slices.Sort(dependencies)
	_, err = fmt.Fprint(w, escape.Text(fmt.Sprintf("NAME: %s\nCHART: %s\nVERSION: %s\nAPP_VERSION: %s\nANNOTATIONS: %s\nLABELS: %s\nDEPENDENCIES: %s\nNAMESPACE: %s\nREVISION: %d\nSTATUS: %s\nDEPLOYED_AT: %s\nAPPLY_METHOD: %s\n",
		m.Name, m.Chart, m.Version, m.AppVersion, labels.Set(m.Annotations), labels.Set(m.Labels), strings.Join(dependencies, ","),
		m.Namespace, m.Revision, m.Status, m.DeployedAt, applyMethod(r.ApplyMethod))))
	return err
}

// applyMethod says how a revision's objects were sent, in Helm's words.
func applyMethod(m release.ApplyMethod) string {
	switch m {
	case release.ServerSide:
		return "server-side apply"
	case release.ClientSide:
		return "client-side apply"
	}
	return "client-side apply (defaulted)"
}

func getAll(o *getFlags, w io.Writer, r *release.Revision) error {
	f, err := o.format()
	if err != nil {
		return err
	}
	if text := o.template; text != "" {
		return fill(w, text, map[string]any{"Release": r})
	}
	if f != "text" {
		return structured(w, f, r)
	}
	if err := getMetadata(o, w, r); err != nil {
		return err
	}
	if err := printYAML(w, "USER-SUPPLIED VALUES:", r.Config); err != nil {
		return err
	}
	computed, err := values.Coalesce(r.Chart, r.Config)
	if err != nil {
		return err
	}
	if err := printYAML(w, "\nCOMPUTED VALUES:", computed); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nHOOKS:")
	if err := printHooks(w, r); err != nil {
		return err
	}
	fmt.Fprintf(w, "MANIFEST:\n%s\n", r.Manifest)
	if r.Info.Notes != "" {
		fmt.Fprintf(w, "NOTES:\n%s\n", r.Info.Notes)
	}
	return nil
}
