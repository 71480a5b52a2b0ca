package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/gcpacing"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

// templateFlags are the flags of template, and of install --dry-run=client, which prints the same.
type templateFlags struct {
	source                                     sourceFlags
	name                                       nameFlags
	capable                                    capabilityFlags
	lookup                                     optional[string]
	includeCRDs, isUpgrade, noHooks, skipTests bool
	showOnly                                   cli.StringSlice
	outputDir, dryRun                          string
	releaseName, validate                      bool
}

func (o *templateFlags) flags(paths *pathFlags) []cli.Flag {
	toggle := func(name string, to *bool, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: to, Usage: usage}
	}
	return joined(o.capable.flags("Kubernetes `VERSION` that templates see"), []cli.Flag{
		lookupFlag(&o.lookup, ""),
		toggle("include-crds", &o.includeCRDs, "print the CRDs of crds/ folders, too"),
		toggle("is-upgrade", &o.isUpgrade, "render as for an upgrade"),
		toggle("no-hooks", &o.noHooks, "leave out hooks"),
		toggle("skip-tests", &o.skipTests, "leave out test hooks"),
		&cli.StringSliceFlag{Name: "show-only", Destination: &o.showOnly, Aliases: []string{"s"}, Usage: "print only what this `TEMPLATE` rendered (repeatable)"},
		&cli.StringFlag{Name: "output-dir", Destination: &o.outputDir, Usage: "write files below `DIR` instead of printing"},
		toggle("release-name", &o.releaseName, "write to a folder named after the release, below that of --output-dir"),
		toggle("validate", &o.validate, "render for the cluster, and have it check every object in a dry run with strict field validation"),
		&cli.StringFlag{Name: "dry-run", Destination: &o.dryRun, Usage: "client contacts no cluster; server renders for the cluster, lookups included", Value: "client"},
		&cli.StringFlag{Name: "name-template", Destination: &o.name.template, Usage: "template for the name"},
		&cli.BoolFlag{Name: "generate-name", Destination: &o.name.generate, Aliases: []string{"g"}, Usage: "accepted as in Helm; the name is release-name"},
	}, o.source.valueFlags(), o.source.render.flags(), o.source.chart.flags(paths))
}

func (p *program) templateCommand() *cli.Command {
	var o templateFlags
	return &cli.Command{
		Name: "template", Usage: "render a chart without a cluster", ArgsUsage: "[NAME] CHART",
		Description: describe("Renders CHART and prints its objects and hooks. No cluster is contacted, and lookups\nfind only what --lookup has, unless --validate or --dry-run=server is given. The default\nNAME is release-name.",
			"kubectl release template web ./chart -f prod.yaml\nkubectl release template ./chart --show-only templates/deployment.yaml\nkubectl release template web ./chart --validate"),
		Flags:  o.flags(&p.paths),
		Action: p.readOnly(takes(1, 2, func(ctx context.Context, args []string) error { return p.template(ctx, &o, args) })),
	}
}

func (p *program) template(ctx context.Context, o *templateFlags, args []string) error {
	name, path, err := o.arguments(args)
	if err != nil {
		return err
	}
	v, r, err := p.rendered(ctx, o, name, path)
	if err != nil {
		return p.renderFailed(o, err)
	}
	resources, hooks := o.documents(r)
	all := slices.Concat(resources, hooks)
	if o.validate {
		if err := p.validate(ctx, v, r.Chart, resources, hooks); err != nil {
			return err
		}
	}
	if o.outputDir != "" {
		docs, err := pick(o.showOnly.Value(), all)
		if err != nil {
			return err
		}
		return p.writeFiles(o.folders(name, r.Chart), docs)
	}
	return p.printRendered(o, resources, hooks)
}

// renderedHeap is the size of the heap, in bytes, in which kube-prometheus-stack or airflow is rendered with one
// collection: the chart's files, values and parsed templates stay alive until the end.
const renderedHeap = 40 << 20

// rendered renders a chart without making a plan.
func (p *program) rendered(ctx context.Context, o *templateFlags, name, path string) (view, engine.Rendering, error) {
	if err := releaseName(name); err != nil {
		return view{}, engine.Rendering{}, err
	}
	gcpacing.Expect(renderedHeap)
	source, err := p.source(ctx, &o.source, path)
	if err != nil {
		return view{}, engine.Rendering{}, err
	}
	v, err := p.view(ctx, o, source)
	if err != nil {
		return view{}, engine.Rendering{}, err
	}
	source.Render.Undiscovered = v.undiscovered
	r, err := engine.Render(ctx, source, engine.Moment{
		Key: release.Key{Namespace: v.namespace, Name: name}, Revision: 1,
		IsInstall: !o.isUpgrade, IsUpgrade: o.isUpgrade,
	}, v.caps, v.lookup)
	p.warnAll(r.Warnings)
	_, err = p.hideRead(nil, err)
	return v, r, err
}

func (p *program) printRendered(o *templateFlags, resources, hooks []manifest.Document) error {
	text, err := o.text(resources, hooks)
	if err != nil {
		return err
	}
	_, err = io.WriteString(terminal.Content(p.raw.Out), text)
	return err
}

// arguments returns the name and the chart. As in Helm 4.3.1 (pkg/cmd/template.go), the name is the
// same every time even with --generate-name, so that outputs can be compared.
func (o *templateFlags) arguments(args []string) (name, path string, err error) {
	if len(args) == 2 || o.name.template != "" {
		return o.name.nameAndChart(args)
	}
	return "release-name", args[0], nil
}

// renderFailed returns the error of a render. If the templates rendered invalid YAML, --debug prints it first,
// as in Helm 4.3.1 (pkg/cmd/template.go).
func (p *program) renderFailed(o *templateFlags, err error) error {
	var invalid *engine.InvalidYAMLError
	if !p.connection.debug || !errors.As(err, &invalid) {
		return err
	}
	var docs []manifest.Document
	for _, f := range invalid.Files {
		if strings.TrimSpace(f.Content) != "" {
			docs = append(docs, manifest.Document{Path: f.Path, Text: f.Content})
		}
	}
	if text, missing := o.text(docs, nil); missing == nil {
		_, _ = io.WriteString(terminal.Content(p.raw.Out), text)
	}
	return err
}

// trimmed removes white space from the end of the last document. Helm 4.3.1 prints manifests this
// way (pkg/cmd/template.go), but not hooks. The output is the same byte for byte, so rendered
// branches in Git do not change with the tool.
func trimmed(docs []manifest.Document) []manifest.Document {
	if len(docs) == 0 {
		return nil
	}
	docs = slices.Clone(docs)
	last := &docs[len(docs)-1]
	last.Text = strings.TrimRight(last.Text, " \t\r\n")
	return docs
}

// text returns what template prints for a chart's objects and hooks. A manifest without objects is
// an empty line, and each document of --show-only is followed by one.
func (o *templateFlags) text(resources, hooks []manifest.Document) (string, error) {
	docs, err := pick(o.showOnly.Value(), slices.Concat(trimmed(resources), hooks))
	text := manifest.Text(docs)
	if len(o.showOnly.Value()) > 0 {
		var each strings.Builder
		for _, d := range docs {
			each.WriteString(manifest.Text([]manifest.Document{d}) + "\n")
		}
		text = each.String()
	} else if len(resources) == 0 {
		text = "\n" + text
	}
	return text, err
}

// documents returns what template prints: CRDs and objects, and hooks.
func (o *templateFlags) documents(r engine.Rendering) (docs, hooks []manifest.Document) {
	if o.includeCRDs {
		for _, crd := range r.Chart.CRDs() {
			docs = append(docs, manifest.Document{Path: crd.Path, Text: string(crd.Data)})
		}
	}
	docs = append(docs, r.Classified.Documents...)
	if o.noHooks {
		return docs, nil
	}
	for _, h := range r.Classified.Hooks {
		if o.skipTests && h.On(manifest.Test) {
			continue
		}
		hooks = append(hooks, manifest.Document{Path: h.Path, Text: h.Manifest})
	}
	return docs, hooks
}

// pick keeps the documents that --show-only names. A name without a match is an error.
func pick(wanted []string, docs []manifest.Document) ([]manifest.Document, error) {
	if len(wanted) == 0 {
		return docs, nil
	}
	var out []manifest.Document
	for _, pattern := range wanted {
		found := false
		for _, d := range docs {
			_, inside, _ := strings.Cut(d.Path, "/")
			matches, err := filepath.Match(filepath.ToSlash(pattern), inside)
			if err != nil {
				return nil, usage("--show-only %s: %v", pattern, err)
			}
			if matches {
				found = true
				out = append(out, d)
			}
		}
		if !found {
			return nil, usage("--show-only %s: the chart renders no such template", pattern)
		}
	}
	return out, nil
}

// folders returns a function that tells the folder below which a template is written. CRDs of crds/
// folders are not in the release's own folder, as in Helm 4.3.1 (pkg/action/action.go,
// renderResources).
func (o *templateFlags) folders(name string, c *chart.Chart) func(path string) string {
	crds := map[string]bool{}
	for _, crd := range c.CRDs() {
		crds[crd.Path] = true
	}
	return func(path string) string {
		if o.releaseName && !crds[path] {
			return filepath.Join(o.outputDir, name)
		}
		return o.outputDir
	}
}

// writeFiles writes the documents of each template to a file with the template's path below its folder.
func (p *program) writeFiles(folder func(path string) string, docs []manifest.Document) error {
	byPath := map[string][]manifest.Document{}
	var order []string
	for _, d := range docs {
		if byPath[d.Path] == nil {
			order = append(order, d.Path)
		}
		byPath[d.Path] = append(byPath[d.Path], d)
	}
	for _, path := range order {
		dir := folder(path)
		if !filepath.IsLocal(path) {
			return fmt.Errorf("write %s: the path leads out of %s", path, dir)
		}
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(manifest.Text(byPath[path])), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(p.streams.Out, "wrote %s\n", file)
	}
	return nil
}
