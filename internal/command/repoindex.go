package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

const indexFile = "index.yaml"

// repoIndexFlags are the flags of repo index.
type repoIndexFlags struct {
	url, merge string
	json       bool
	prune      int
}

func (p *program) repoIndexCommand() *cli.Command {
	var o repoIndexFlags
	return &cli.Command{
		Name: "index", Usage: "create the index of a folder of charts", ArgsUsage: "FOLDER",
		Description: describe(`Writes FOLDER/index.yaml with the archives in FOLDER and the folders in it. An archive
that is already in the index keeps its time, so that the same archives make the same index;
one whose size and modification time are those of the last run is not read again.`, `kubectl release repo index dist --url https://charts.example.com
kubectl release repo index dist --merge published/index.yaml --prune 10`),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "url", Destination: &o.url, Usage: "`URL` of the repository; without it the archives' URLs are relative"},
			&cli.StringFlag{Name: "merge", Destination: &o.merge, Usage: "index `FILE` whose charts are merged in; those of FOLDER take precedence"},
			&cli.BoolFlag{Name: "json", Destination: &o.json, Usage: "write JSON, which is also YAML"},
			&cli.IntFlag{Name: "prune", Destination: &o.prune, Usage: "keep the newest `N` versions of each chart; 0 keeps all. Archives stay where they are"},
		},
		Action: p.readOnly(takes(1, 1, func(_ context.Context, args []string) error { return p.repoIndex(&o, args[0]) })),
	}
}

func (p *program) repoIndex(o *repoIndexFlags, folder string) error {
	now := time.Now()
	if info, err := os.Stat(folder); err != nil {
		return err
	} else if !info.IsDir() {
		return usage("%s is not a folder", folder)
	}
	if o.prune < 0 {
		return usage("--prune %d: the number of versions to keep can't be negative", o.prune)
	}
	file := filepath.Join(folder, indexFile)
	before, err := readIndexFile(file)
	if err != nil {
		p.warn(fmt.Sprintf("%s is rebuilt: %v", file, err))
	}
	archives, err := p.archivesIn(folder, before != nil, now)
	if err != nil {
		return err
	}
	index, warnings := resolve.Publish(archives, o.url, before, now)
	p.warnAll(warnings)
	if other := o.merge; other != "" {
		merged, err := readIndexFile(other)
		if err != nil {
			return fmt.Errorf("--merge: %w", err)
		}
		if merged != nil {
			if err := index.Merge(merged); err != nil {
				return fmt.Errorf("--merge %s: %w", other, err)
			}
		}
	}
	if o.prune > 0 {
		if left := index.Prune(o.prune); left > 0 {
			fmt.Fprintf(p.streams.Err, "%s leaves out older versions: %d\n", file, left)
		}
	}
	data, err := index.Bytes(o.json, before, now)
	if err != nil {
		return err
	}
	return outputfile.Write(file, data, 0o644)
}

// readIndexFile reads an index; it returns nil if there is none.
func readIndexFile(file string) (*resolve.Index, error) {
	data, err := inputfile.Read(file, resolve.MaxIndexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	index, err := resolve.ReadIndex(bytes.NewReader(data), resolve.All)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return index, nil
}

// archivesIn returns the charts in a folder and its direct subfolders. If reuse is set, archives
// that have not changed since the last run are not read again. Files that are not charts are
// skipped with a warning.
func (p *program) archivesIn(folder string, reuse bool, now time.Time) ([]resolve.Packaged, error) {
	s, err := p.repositories()
	if err != nil {
		return nil, err
	}
	before, after := source.Indexed{}, source.Indexed{}
	if reuse {
		before = s.Indexed(folder)
	}
	names, err := archiveNames(folder)
	if err != nil {
		return nil, err
	}
	var out []resolve.Packaged
	for _, name := range names {
		file := filepath.Join(folder, filepath.FromSlash(name))
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		found, known := before.Get(name, info)
		if !known {
			data, err := inputfile.Read(file, source.MaxArchiveBytes)
			if err != nil {
				return nil, err
			}
			loaded, _, err := chartload.Archive(bytes.NewReader(data), name)
			if err != nil {
				p.warn(fmt.Sprintf("%s is left out: %v", name, err))
				continue
			}
			found = resolve.Packaged{Metadata: loaded.Metadata, Path: name, Digest: source.Digest(data)}
		}
		after.Keep(info, found, now)
		out = append(out, found)
	}
	_ = s.KeepIndexed(folder, after) // without it, the next run reads them all
	return out, nil
}

// archiveNames returns the archives that Helm indexes (Helm 4.3.1, pkg/repo/v1/index.go,
// IndexDirectory), with forward slashes.
func archiveNames(folder string) ([]string, error) {
	var out []string
	for _, pattern := range []string{"*.tgz", "*/*.tgz"} {
		found, err := fs.Glob(os.DirFS(folder), pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.Sort(out)
	return out, nil
}
