package command

import (
	"bytes"
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

func (p *program) createCommand() *cli.Command {
	return &cli.Command{
		Name: "create", Usage: "make a new chart", ArgsUsage: "FOLDER",
		Description: describe("Makes a chart of the folder's name, which deploys a web server: a pattern to change. Files\nthat are there already with other content are overwritten, and told.", "kubectl release create web\nkubectl release create web --starter ours"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "starter", Aliases: []string{"p"}, Usage: "`CHART` that is the pattern: a name below $HELM_DATA_HOME/starters, or an absolute path"},
		},
		Action: p.readOnly(p.create),
	}
}

func (p *program) create(c *cli.Context) error {
	args, err := arguments(c, 1, 1)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	name := filepath.Base(dir)
	if err := scaffold.CheckName(name); err != nil {
		return usage("%v", err)
	}
	files, err := pattern(c, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.streams.Out, "Creating %s\n", args[0])
	write := p.overwrite
	if !isThere(dir) {
		write = writeFolder
	}
	if err := write(files, dir); err != nil {
		return fmt.Errorf("create %s: %w", args[0], err)
	}
	return os.MkdirAll(filepath.Join(dir, "charts"), 0o755)
}

// pattern are the files of the new chart.
func pattern(c *cli.Context, name string) ([]*chart.File, error) {
	starter := c.String("starter")
	if starter == "" {
		return scaffold.Chart(name)
	}
	if !filepath.IsAbs(starter) {
		starter = filepath.Join(sourcePaths(c).Data, "starters", starter)
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

// overwrite writes files into a folder that is there. Nothing is written where one of
// them, or a folder in it, is a link.
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
			p.warn(fmt.Sprintf("%s is there already with other content: it is overwritten", file))
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
