package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// pullFlags are the flags of pull.
type pullFlags struct {
	destination, untarDir string
	untar, prov           bool
	chart                 chartFlags
}

func (p *program) pullCommand() *cli.Command {
	var o pullFlags
	return &cli.Command{
		Name: "pull", Aliases: []string{"fetch"}, Usage: "fetch charts into files", ArgsUsage: "CHART...",
		Description: describe(`Fetches charts from their sources, as archives or unpacked. Charts in the cache are not
fetched again.`, `kubectl release pull stable/web --version '^1'
kubectl release pull https://charts.example.com/web-1.4.2.tgz --untar
kubectl release pull oci://ghcr.io/acme/charts/web --version 1.4.2`),
		Flags: joined([]cli.Flag{
			&cli.StringFlag{Name: "destination", Destination: &o.destination, Aliases: []string{"d"}, Usage: "`FOLDER` for the archives; it must exist, except with --untar", Value: "."},
			&cli.BoolFlag{Name: "untar", Destination: &o.untar, Usage: "unpack each chart into a folder named after it"},
			&cli.BoolFlag{Name: "prov", Destination: &o.prov, Usage: "also write the provenance file beside the archive, unverified"},
			&cli.StringFlag{Name: "untardir", Destination: &o.untarDir, Usage: "with --untar: `FOLDER` for the unpacked charts, created if needed; a relative one is below that of --destination", Value: "."},
		}, o.chart.flags(&p.paths)),
		Action: p.readOnly(takes(1, 1000, func(ctx context.Context, args []string) error {
			for _, name := range args {
				if err := p.pull(ctx, &o, name); err != nil {
					return err
				}
			}
			return nil
		})),
	}
}

func (p *program) pull(ctx context.Context, o *pullFlags, name string) error {
	s, err := p.sources(&o.chart.fetchFlags)
	if err != nil {
		return err
	}
	ref, err := understood(s, o.chart.request(name), func(string) bool { return false })
	if err != nil && o.chart.repo == "" && isThere(name) {
		return usage("%s is here already: pull fetches charts, and %s makes an archive of a folder", name, p.command("package"))
	} else if err != nil {
		return err
	}
	fetched, err := p.fetch(ctx, s, ref)
	if err != nil {
		return err
	}
	loaded, _, err := located{name: fetched.FileName(), fetched: &fetched}.load()
	if err != nil {
		return err
	}
	if o.untar {
		return unpack(loaded, o.unpacked())
	}
	at := o.destination
	if info, err := os.Stat(at); err != nil {
		return fmt.Errorf("--destination: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("--destination %s is not a folder", at)
	}
	if o.prov {
		err := s.FetchProvenance(ctx, &fetched)
		if none, is := errors.AsType[*source.UnverifiedError](err); is {
			p.warn(none.Err.Error())
		} else if err != nil {
			return err
		}
	}
	file := filepath.Join(at, fetched.FileName())
	for suffix, data := range fetched.Evidence {
		if err := outputfile.Write(file+suffix, data, 0o644); err != nil {
			return fmt.Errorf("write its signature: %w", err)
		}
	}
	if err := outputfile.Write(file, fetched.Data, 0o644); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// unpacked returns the folder for unpacked charts, which need not exist (Helm 4.3.1,
// pkg/action/pull.go, Run).
func (o *pullFlags) unpacked() string {
	if filepath.IsAbs(o.untarDir) {
		return o.untarDir
	}
	return filepath.Join(o.destination, o.untarDir)
}

// unpack writes a chart's files into a folder with the chart's name in dir, without any of Git's own,
// which could have programs run. The folder must not exist; it appears once all files are written.
func unpack(c *chart.Chart, dir string) error {
	at := filepath.Join(dir, c.Name())
	if _, err := os.Lstat(at); err == nil {
		return fmt.Errorf("unpack %s: %s already exists", c.Name(), at)
	}
	files := slices.DeleteFunc(slices.Clone(c.Raw), func(f *chart.File) bool { return inputfile.OfGit(f.Name) })
	if err := writeFolder(files, at); err != nil {
		return fmt.Errorf("unpack %s: %w", c.Name(), err)
	}
	return nil
}

// writeFolder writes files into a new folder, which appears once all files are written.
func writeFolder(files []*chart.File, at string) error {
	dir := filepath.Dir(at)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(dir, outputfile.Prefix+"*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(unfinished) }()
	for _, f := range files {
		file := filepath.Join(unfinished, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, f.Data, 0o644)); err != nil {
			return err
		}
	}
	if err := os.Chmod(unfinished, 0o755); err != nil {
		return err
	}
	return os.Rename(unfinished, at)
}
