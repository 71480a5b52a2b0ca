package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/pack"
)

func (p *program) packageCommand() *cli.Command {
	return &cli.Command{
		Name: "package", Usage: "make the archive of a chart", ArgsUsage: "FOLDER...",
		Description: describe("Packs charts into NAME-VERSION.tgz. Of the same files it is the same archive, byte for\nbyte; SOURCE_DATE_EPOCH gives the time that its files have, else it is 1970.", "kubectl release package ./web\nkubectl release package ./web --version 1.4.3-rc.1 -d dist\nkubectl release package ./web --check"),
		Flags: joined([]cli.Flag{
			&cli.StringFlag{Name: "version", Usage: "`VERSION` in the place of Chart.yaml's"},
			&cli.StringFlag{Name: "app-version", Usage: "`VERSION` in the place of Chart.yaml's appVersion"},
			&cli.StringFlag{Name: "destination", Aliases: []string{"d"}, Usage: "`FOLDER` for the archives; it is made", Value: "."},
			&cli.BoolFlag{Name: "check", Usage: "write nothing: exit with 2 when the archive is not there or another one would be made"},
			&cli.BoolFlag{Name: "dependency-update", Aliases: []string{"u"}, Usage: "bring the dependencies up to date first"},
		}, bringingFlags()),
		Action: p.readOnly(p.pack),
	}
}

func (p *program) pack(c *cli.Context) error {
	args, err := arguments(c, 1, 1000)
	if err != nil {
		return err
	}
	if c.Bool("check") && c.Bool("dependency-update") {
		return usage("--check writes nothing, and --dependency-update does: choose one")
	}
	differs := false
	for _, folder := range args {
		name, data, err := p.packed(c, folder)
		if err != nil {
			return err
		}
		file := filepath.Join(c.String("destination"), name)
		if c.Bool("check") {
			same, err := p.compare(file, data)
			if err != nil {
				return err
			}
			differs = differs || !same
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := outputfile.Write(file, data, 0o644); err != nil {
			return fmt.Errorf("write the archive: %w", err)
		}
		if absolute, err := filepath.Abs(file); err == nil {
			file = absolute
		}
		fmt.Fprintf(p.streams.Out, "Successfully packaged chart and saved it to: %s\n", file)
	}
	if differs {
		return codeError(exitChanges)
	}
	return nil
}

// packed is the archive of the chart in a folder, and its file's name.
func (p *program) packed(c *cli.Context, folder string) (string, []byte, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return "", nil, usage("%s is no folder", folder)
	}
	if c.Bool("dependency-update") {
		if err := p.updateDependencies(c, folder); err != nil {
			return "", nil, err
		}
	}
	loaded, warnings, err := chartload.Load(folder, chartOptions(c))
	if err == nil {
		err = dependency.Verify(loaded)
	}
	if err != nil {
		return "", nil, err
	}
	p.warnAll(warnings)
	at, err := sourceDate()
	if err != nil {
		return "", nil, err
	}
	if at.IsZero() {
		at = time.Unix(0, 0).UTC()
	}
	data, err := pack.Archive(loaded, pack.Options{Version: c.String("version"), AppVersion: c.String("app-version"), Time: at})
	if err != nil {
		return "", nil, err
	}
	// What is packed is what is going to be read.
	packed, _, err := chartload.Archive(bytes.NewReader(data), folder)
	if err != nil {
		return "", nil, err
	}
	return packed.Name() + "-" + packed.Metadata.Version + ".tgz", data, nil
}

// compare says whether a file has this content.
func (p *program) compare(file string, data []byte) (bool, error) {
	there, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(p.streams.Out, "%s is not there\n", file)
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Equal(there, data):
		fmt.Fprintf(p.streams.Out, "%s is not what would be made now\n", file)
		return false, nil
	}
	return true, nil
}
