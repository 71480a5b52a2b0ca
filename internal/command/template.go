package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/templating"
)

func (p *program) templateCommand() *cli.Command {
	return &cli.Command{
		Name: "template", Usage: "render a chart without a cluster", ArgsUsage: "[NAME] CHART",
		Description: describe("Renders CHART and prints its objects and hooks. No cluster is asked, and lookups find\nonly what --lookup has, unless --validate or --dry-run=server is given. NAME is release-name unless it\nis given.",
			"kubectl release template web ./chart -f prod.yaml\nkubectl release template ./chart --show-only templates/deployment.yaml\nkubectl release template web ./chart --validate"),
		Flags: joined([]cli.Flag{
			&cli.StringFlag{Name: "kube-version", Usage: "Kubernetes `VERSION` that templates see"},
			&cli.StringSliceFlag{Name: "api-versions", Aliases: []string{"a"}, Usage: "API `VERSION` that templates see besides the built-in ones (repeatable)"},
			lookupFlag(""),
			&cli.BoolFlag{Name: "include-crds", Usage: "print the CRDs of crds/ folders, too"},
			&cli.BoolFlag{Name: "is-upgrade", Usage: "render as for an upgrade"},
			&cli.BoolFlag{Name: "no-hooks", Usage: "leave out hooks"},
			&cli.BoolFlag{Name: "skip-tests", Usage: "leave out test hooks"},
			&cli.StringSliceFlag{Name: "show-only", Aliases: []string{"s"}, Usage: "print only what this `TEMPLATE` rendered (repeatable)"},
			&cli.StringFlag{Name: "output-dir", Usage: "write files below `DIR` instead of printing"},
			&cli.BoolFlag{Name: "release-name", Usage: "put a folder of the release's name below that of --output-dir"},
			&cli.BoolFlag{Name: "validate", Usage: "render for the cluster, and have it check every object in a dry run with strict field validation"},
			&cli.StringFlag{Name: "dry-run", Usage: "client asks no cluster; server renders for the cluster, lookups included", Value: "client"},
			&cli.StringFlag{Name: "name-template", Usage: "template for the name"},
			&cli.BoolFlag{Name: "generate-name", Aliases: []string{"g"}, Usage: "make up a name from the chart's"},
		}, valuesFlags(), renderFlags(), chartFlags()),
		Action: p.readOnly(p.template),
	}
}

func (p *program) template(c *cli.Context) error {
	name, path, err := p.templateArguments(c)
	if err != nil {
		return err
	}
	v, r, err := p.rendered(c, name, path)
	if err != nil {
		return err
	}
	resources, hooks := documents(c, r)
	all := slices.Concat(resources, hooks)
	if c.Bool("validate") {
		if err := p.validate(c, v, r.Chart, all); err != nil {
			return err
		}
	}
	if dir := c.String("output-dir"); dir != "" {
		docs, err := pick(c, all)
		if err != nil {
			return err
		}
		if c.Bool("release-name") {
			dir = filepath.Join(dir, name)
		}
		return p.writeFiles(dir, docs)
	}
	return p.printRendered(c, resources, hooks)
}

// rendered renders a chart outside of a plan.
func (p *program) rendered(c *cli.Context, name, path string) (view, engine.Rendering, error) {
	if err := releaseName(name); err != nil {
		return view{}, engine.Rendering{}, err
	}
	source, err := p.source(c, path)
	if err != nil {
		return view{}, engine.Rendering{}, err
	}
	v, err := p.view(c, source.Chart)
	if err != nil {
		return view{}, engine.Rendering{}, err
	}
	r, err := engine.Render(c.Context, source, engine.Moment{
		Key: release.Key{Namespace: v.namespace, Name: name}, Revision: 1,
		IsInstall: !c.Bool("is-upgrade"), IsUpgrade: c.Bool("is-upgrade"),
	}, v.caps, v.lookup)
	p.warnAll(r.Warnings)
	return v, r, err
}

func (p *program) printRendered(c *cli.Context, resources, hooks []manifest.Document) error {
	text, err := templateText(c, resources, hooks)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(content(p.raw.Out), text)
	return err
}

func (p *program) templateArguments(c *cli.Context) (name, path string, err error) {
	args, err := arguments(c, 1, 2)
	switch {
	case err != nil:
		return "", "", err
	case len(args) == 2 || c.Bool("generate-name") || c.String("name-template") != "":
		return p.nameAndChart(c)
	default:
		return "release-name", args[0], nil
	}
}

func offlineCapabilities(c *cli.Context) (*templating.Capabilities, error) {
	caps := templating.DefaultCapabilities()
	if text := c.String("kube-version"); text != "" {
		version, err := templating.ParseKubeVersion(text)
		if err != nil {
			return nil, usage("--kube-version: %v", err)
		}
		caps.KubeVersion = version
	}
	more, err := commaSeparated("api-versions", c.StringSlice("api-versions"))
	if err != nil {
		return nil, err
	}
	caps.APIVersions = append(caps.APIVersions, more...)
	return caps, nil
}

// trimmed are documents of which the last ends without white space: Helm 4.3.1
// prints a manifest so (pkg/cmd/template.go), and hooks as they are. To the byte, for
// rendered branches in Git that don't change with the program.
func trimmed(docs []manifest.Document) []manifest.Document {
	if len(docs) == 0 {
		return nil
	}
	docs = slices.Clone(docs)
	last := &docs[len(docs)-1]
	last.Text = strings.TrimRight(last.Text, " \t\r\n")
	return docs
}

// templateText is what template prints of a chart's objects and hooks. A manifest
// without objects is an empty line, and each document of --show-only ends with one.
func templateText(c *cli.Context, resources, hooks []manifest.Document) (string, error) {
	docs, err := pick(c, slices.Concat(trimmed(resources), hooks))
	text := manifest.Text(docs)
	if c.IsSet("show-only") {
		text = ""
		for _, d := range docs {
			text += manifest.Text([]manifest.Document{d}) + "\n"
		}
	} else if len(resources) == 0 {
		text = "\n" + text
	}
	return text, err
}

// documents are what template prints: CRDs and objects, then hooks.
func documents(c *cli.Context, r engine.Rendering) (docs, hooks []manifest.Document) {
	if c.Bool("include-crds") && !c.Bool("skip-crds") {
		for _, crd := range r.Chart.CRDs() {
			docs = append(docs, manifest.Document{Path: crd.Path, Text: string(crd.Data)})
		}
	}
	docs = append(docs, r.Classified.Documents...)
	if c.Bool("no-hooks") {
		return docs, nil
	}
	for _, h := range r.Classified.Hooks {
		if c.Bool("skip-tests") && h.On(manifest.Test) {
			continue
		}
		hooks = append(hooks, manifest.Document{Path: h.Path, Text: h.Manifest})
	}
	return docs, hooks
}

// pick keeps what --show-only names; a name without a match is an error.
func pick(c *cli.Context, docs []manifest.Document) ([]manifest.Document, error) {
	wanted := c.StringSlice("show-only")
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

// writeFiles puts every template's documents into a file of its name.
func (p *program) writeFiles(dir string, docs []manifest.Document) error {
	byPath := map[string][]manifest.Document{}
	var order []string
	for _, d := range docs {
		if byPath[d.Path] == nil {
			order = append(order, d.Path)
		}
		byPath[d.Path] = append(byPath[d.Path], d)
	}
	for _, path := range order {
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
