package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/scaffold"
)

// createFlags are the flags of create.
type createFlags struct {
	starter string
	schema  bool
}

func (p *program) createCommand() *cli.Command {
	var o createFlags
	return &cli.Command{
		Name: "create", Usage: "create a new chart", ArgsUsage: "FOLDER",
		Description: describe(`Creates a chart named after the folder, which deploys a web server: a starting point.
Existing files with different content are overwritten, with a warning.`, `kubectl release create web --schema
kubectl release create web --starter ours`),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "starter", Destination: &o.starter, Aliases: []string{"p"}, Usage: "`CHART` to start from: a name below $HELM_DATA_HOME/starters, or an absolute path"},
			&cli.BoolFlag{Name: "schema", Destination: &o.schema, Usage: "also write values.schema.json, which refuses values of the wrong type"},
		},
		Action: p.readOnly(takes(1, 1, func(_ context.Context, args []string) error { return p.create(&o, args[0]) })),
	}
}

func (p *program) create(o *createFlags, folder string) error {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	name := filepath.Base(dir)
	if err := scaffold.CheckName(name); err != nil {
		return usage("%v", err)
	}
	files, err := p.pattern(o, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.streams.Out, "Creating %s\n", folder)
	write := p.overwrite
	if !isThere(dir) {
		write = writeFolder
	}
	if err := write(files, dir); err != nil {
		return fmt.Errorf("create %s: %w", folder, err)
	}
	return os.MkdirAll(filepath.Join(dir, "charts"), 0o755)
}

// pattern returns the files of the new chart.
func (p *program) pattern(o *createFlags, name string) ([]*chart.File, error) {
	starter := o.starter
	switch {
	case starter != "" && o.schema:
		return nil, usage("--schema is for the built-in chart; a starter has its own schema, or none")
	case starter == "":
		files, err := scaffold.Chart(name)
		if o.schema {
			files = append(files, scaffold.Schema(name))
		}
		return files, err
	}
	if !filepath.IsAbs(starter) {
		data := p.paths.find().Data
		if data == "" {
			return nil, usage("--starter %s: without a home folder and HELM_DATA_HOME, give an absolute path", starter)
		}
		starter = filepath.Join(data, "starters", starter)
	}
	files, err := chartload.Files(starter, chartload.Options{})
	if err != nil {
		return nil, err
	}
	out, err := scaffold.Starter(name, files)
	if err != nil {
		return nil, fmt.Errorf("starter %s: %w", starter, err)
	}
	return out, nil
}

// overwrite writes files into an existing folder. It writes nothing if one of them, or a folder on
// its path, is a symbolic link.
func (p *program) overwrite(files []*chart.File, dir string) error {
	for _, f := range append(files, &chart.File{Name: "charts"}) {
		for at := f.Name; at != "."; at = path.Dir(at) {
			file := filepath.Join(dir, filepath.FromSlash(at))
			if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return fmt.Errorf("%s is a symbolic link: nothing is written", file)
			}
		}
	}
	for _, f := range files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		before, err := os.ReadFile(file)
		switch {
		case err == nil && bytes.Equal(before, f.Data):
			continue
		case err == nil:
			p.warn(fmt.Sprintf("%s exists with different content: it is overwritten", file))
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := outputfile.Write(file, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
