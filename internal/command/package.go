package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/pack"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// packageFlags are the flags of package.
type packageFlags struct {
	pack.Options
	destination             string
	check, updateDependency bool
	sign                    signFlags
	bring                   bringFlags
}

func (p *program) packageCommand() *cli.Command {
	var o packageFlags
	return &cli.Command{
		Name: "package", Usage: "package charts into archives", ArgsUsage: "FOLDER...",
		Description: describe(`Packages charts into NAME-VERSION.tgz. The same files make the same archive, byte for byte;
SOURCE_DATE_EPOCH sets the time of its files, which is 1970 by default.`, `kubectl release package ./web
kubectl release package ./web --version 1.4.3-rc.1 -d dist
kubectl release package ./web --check
kubectl release package ./web --sign --key ci@example.com --keyring secret.gpg`),
		Flags: joined([]cli.Flag{
			&cli.StringFlag{Name: "version", Destination: &o.Version, Usage: "`VERSION` instead of Chart.yaml's"},
			&cli.StringFlag{Name: "app-version", Destination: &o.AppVersion, Usage: "`VERSION` instead of Chart.yaml's appVersion"},
			&cli.StringFlag{Name: "destination", Destination: &o.destination, Aliases: []string{"d"}, Usage: "`FOLDER` for the archives; created if missing", Value: "."},
			&cli.BoolFlag{Name: "check", Destination: &o.check, Usage: "write nothing; exit with 2 if the archive is missing or would be different"},
			&cli.BoolFlag{Name: "dependency-update", Destination: &o.updateDependency, Aliases: []string{"u"}, Usage: "update the dependencies first"},
		}, o.sign.flags(&o.bring.verify), o.bring.flags(&p.paths)),
		Action: p.readOnly(takes(1, 1000, func(ctx context.Context, args []string) error { return p.pack(ctx, &o, args) })),
	}
}

func (p *program) pack(ctx context.Context, o *packageFlags, args []string) error {
	if o.check && o.updateDependency {
		return usage("--check writes nothing, but --dependency-update does: choose one")
	}
	key, err := p.signingKey(o)
	if err != nil {
		return err
	}
	differs := false
	for _, folder := range args {
		made, err := p.packed(ctx, o, folder)
		if err != nil {
			return err
		}
		file := filepath.Join(o.destination, made.name)
		if o.check {
			same, err := p.compare(file, made.data)
			if err != nil {
				return err
			}
			differs = differs || !same
			continue
		}
		if err := made.write(file, key); err != nil {
			return err
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

// packed is the archive of a chart, with its file name and metadata.
type packed struct {
	name     string
	data     []byte
	metadata *chart.Metadata
}

// write writes the archive and, if key is not nil, its provenance file.
func (a packed) write(file string, key *signature.Key) error {
	var provenance []byte
	if key != nil {
		var err error
		about := signature.Archive{Name: a.name, Digest: source.Digest(a.data)}
		if provenance, err = key.SignArchive(a.metadata, about, time.Now(), rand.Reader); err != nil {
			return fmt.Errorf("sign %s: %w", a.name, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := outputfile.Write(file, a.data, 0o644); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if provenance == nil {
		return nil
	}
	if err := outputfile.Write(file+source.ProvenanceSuffix, provenance, 0o644); err != nil {
		return fmt.Errorf("write the provenance: %w", err)
	}
	return nil
}

// packed makes the archive of the chart in a folder, after updating its dependencies if
// requested.
func (p *program) packed(ctx context.Context, o *packageFlags, folder string) (packed, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return packed{}, usage("%s is not a folder", folder)
	}
	if o.updateDependency {
		if err := p.updateDependencies(ctx, &o.bring.fetchFlags, folder); err != nil {
			return packed{}, err
		}
	}
	return p.archived(&o.bring.fetchFlags, folder, o.Options)
}

// archived makes the archive of the chart in a folder as it is.
func (p *program) archived(fetch *fetchFlags, folder string, o pack.Options) (packed, error) {
	loaded, warnings, err := dependency.Verified(chartload.Load(folder, fetch.load))
	if err != nil {
		return packed{}, err
	}
	p.warnAll(warnings)
	if o.Time, err = sourceDate(); err != nil {
		return packed{}, err
	}
	if o.Time.IsZero() {
		o.Time = time.Unix(0, 0).UTC()
	}
	data, err := pack.Archive(loaded, o)
	if err != nil {
		return packed{}, err
	}
	// Read the archive back, as its users will.
	read, _, err := chartload.Archive(bytes.NewReader(data), folder)
	if err != nil {
		return packed{}, err
	}
	return packed{name: read.Name() + "-" + read.Metadata.Version + ".tgz", data: data, metadata: read.Metadata}, nil
}

// compare reports whether a file has the given content, and prints why if it has not.
func (p *program) compare(file string, data []byte) (bool, error) {
	there, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(p.streams.Out, "%s does not exist\n", file)
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Equal(there, data):
		fmt.Fprintf(p.streams.Out, "%s is not what would be packaged now\n", file)
		return false, nil
	}
	return true, nil
}
