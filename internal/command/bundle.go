package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/pack"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// imagesFile is the list of images in a bundle.
const imagesFile = "images.txt"

func (p *program) chartCommand() *cli.Command {
	return &cli.Command{
		Name: "chart", Usage: "prepare charts for use without a network", ArgsUsage: "bundle",
		Description: describe("Puts charts and everything they need into a bundle.", "kubectl release chart bundle stable/web -d bundle"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{p.bundleCommand()},
	}
}

// bundleFlags are the flags of chart bundle.
type bundleFlags struct {
	destination string
	capable     capabilityFlags
	values      valuesFlags
	chart       chartFlags
}

func (p *program) bundleCommand() *cli.Command {
	var o bundleFlags
	return &cli.Command{
		Name: "bundle", Usage: "write charts with all dependencies, and the list of their images", ArgsUsage: "CHART...",
		Description: describe(`Writes the archive of each chart, including dependencies, to a folder, with the signature
by which it was verified, and to images.txt every image that the charts name with these
values: everything to take to where there is no network.`,
			"kubectl release chart bundle stable/web oci://ghcr.io/acme/charts/db -d bundle -f prod.yaml\nkubectl release chart bundle ./web -d bundle"),
		Flags: joined([]cli.Flag{
			&cli.StringFlag{Name: "destination", Destination: &o.destination, Aliases: []string{"d"}, Usage: "`FOLDER` for the bundle; created if missing", Value: "."},
		}, o.capable.flags("Kubernetes `VERSION` that templates see"), o.values.flags(), []cli.Flag{o.chart.outsideLinksFlag()}, o.chart.flags(&p.paths)),
		Action: p.readOnly(takes(1, 1000, func(ctx context.Context, args []string) error { return p.bundle(ctx, &o, args) })),
	}
}

// bundled is one chart of a bundle.
type bundled struct {
	name     string
	data     []byte
	evidence map[string][]byte
	images   []string
}

func (p *program) bundle(ctx context.Context, o *bundleFlags, args []string) error {
	images := map[string]bool{}
	files := map[string][]byte{}
	for _, name := range args {
		b, err := p.bundled(ctx, o, name)
		if err != nil {
			return err
		}
		if there, twice := files[b.name]; twice && !bytes.Equal(there, b.data) {
			return fmt.Errorf("two charts with different files would both be %s", b.name)
		}
		files[b.name] = b.data
		for suffix, data := range b.evidence {
			files[b.name+suffix] = data
		}
		for _, image := range b.images {
			images[image] = true
		}
	}
	list := strings.Join(slices.Sorted(maps.Keys(images)), "\n")
	if list != "" {
		list += "\n"
	}
	files[imagesFile] = []byte(list)
	at := o.destination
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(at, name)
		if err := outputfile.Write(file, files[name], 0o644); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
		fmt.Fprintf(p.streams.Out, "wrote %s\n", file)
	}
	return nil
}

// bundled fetches one chart and lists its images.
func (p *program) bundled(ctx context.Context, o *bundleFlags, name string) (bundled, error) {
	data, evidence, err := p.archive(ctx, &o.chart, name)
	if err != nil {
		return bundled{}, err
	}
	loaded, warnings, err := dependency.Verified(chartload.Archive(bytes.NewReader(data), name))
	if err != nil {
		return bundled{}, err
	}
	p.warnAll(warnings)
	if missing := pack.Missing(loaded); len(missing) > 0 {
		return bundled{}, fmt.Errorf("chart %s lacks its dependencies: %s", loaded.Name(), strings.Join(missing, ", "))
	}
	file := loaded.Name() + "-" + loaded.Metadata.Version + ".tgz"
	images, err := p.imagesOf(ctx, o, loaded)
	return bundled{name: file, data: data, evidence: evidence, images: images}, err
}

// archive returns the archive of a chart, wherever the chart is; a folder is packed.
func (p *program) archive(ctx context.Context, o *chartFlags, name string) (data []byte, evidence map[string][]byte, err error) {
	found, err := p.located(ctx, &o.fetchFlags, o.request(name))
	if err != nil {
		return nil, nil, err
	}
	if found.fetched != nil {
		return found.fetched.Data, found.fetched.Evidence, nil
	}
	if info, err := os.Stat(found.name); err == nil && info.IsDir() {
		made, err := p.archived(&o.fetchFlags, found.name, pack.Options{})
		return made.data, nil, err
	}
	data, err = inputfile.Read(found.name, source.MaxArchiveBytes)
	return data, nil, err
}

// imagesOf renders a chart without a cluster and returns the images that its objects and hooks
// name.
func (p *program) imagesOf(ctx context.Context, o *bundleFlags, loaded *chart.Chart) ([]string, error) {
	caps, err := o.capable.capabilities()
	if err != nil {
		return nil, err
	}
	given, err := p.givenValues(ctx, &o.values, &o.chart.fetchFlags)
	if err != nil {
		return nil, err
	}
	key := release.Key{Namespace: cmp.Or(p.connection.namespace, "default"), Name: "release-name"}
	from := engine.Source{Chart: loaded, Values: given}
	p.hideValues(from)
	r, err := engine.Render(ctx, from, engine.Moment{Key: key, Revision: 1, IsInstall: true}, caps, nil)
	if err != nil {
		return nil, err
	}
	text := manifest.Text(r.Classified.Documents)
	for _, hook := range r.Classified.Hooks {
		text += "\n---\n" + hook.Manifest
	}
	objects, err := manifest.Parse(text)
	if err != nil {
		return nil, err
	}
	return manifest.Images(objects), nil
}
