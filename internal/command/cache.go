package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/source"
)

func (p *program) cacheCommand() *cli.Command {
	return &cli.Command{
		Name: "cache", Usage: "list and prune what was fetched", ArgsUsage: "list|prune",
		Description: describe("Manages the cache of indexes and charts, which Helm 4 fills, too, but never empties.", "kubectl release cache list\nkubectl release cache prune --older-than 720h"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{p.cacheListCommand(), p.cachePruneCommand()},
	}
}

// cacheFlags are the flags of commands that list files in the cache.
type cacheFlags struct {
	outputFlags
	width int
}

func (o *cacheFlags) flags() []cli.Flag {
	return []cli.Flag{o.flag(), widthFlag(&o.width, 60)}
}

func (p *program) cacheListCommand() *cli.Command {
	var o cacheFlags
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list what the cache holds",
		Description: describe("Lists indexes, charts and manifests with their sizes, when they were fetched, and what\nrefers to them. A broken one has a different digest than the one it is stored under.", "kubectl release cache list -o json"),
		Flags:       joined(o.flags(), p.paths.flags()),
		Action: p.readOnly(takes(0, 0, func(context.Context, []string) error {
			_, files, err := p.cacheFiles(&o)
			if err != nil {
				return err
			}
			return p.showCache(&o, files, "%d in the cache, %s\n")
		})),
	}
}

// pruneFlags are the flags of cache prune.
type pruneFlags struct {
	cacheFlags
	olderThan   optional[time.Duration]
	all, dryRun bool
}

func (p *program) cachePruneCommand() *cli.Command {
	var o pruneFlags
	return &cli.Command{
		Name: "prune", Usage: "remove what nothing refers to",
		Description: describe(`Removes what no index of a configured repository, no tag and no URL refers to, and what is
broken; with --older-than also what was fetched longer ago. Whatever is needed later is
fetched again.`, `kubectl release cache prune --dry-run
kubectl release cache prune --older-than 720h`),
		Flags: joined([]cli.Flag{
			&cli.DurationFlag{Name: "older-than", Destination: &o.olderThan.value, Action: o.olderThan.note, Usage: "also remove what was fetched longer ago than this, used or not; 720h is 30 days"},
			&cli.BoolFlag{Name: "all", Destination: &o.all, Usage: "remove everything"},
			&cli.BoolFlag{Name: "dry-run", Destination: &o.dryRun, Usage: "print what would be removed, but remove nothing"},
		}, o.flags(), p.paths.flags()),
		Action: p.readOnly(takes(0, 0, func(context.Context, []string) error { return p.cachePrune(&o) })),
	}
}

// cached is a file in the cache, in JSON and YAML output.
type cached struct {
	Kind    string    `json:"kind"`
	Name    string    `json:"name,omitempty"`
	Digest  string    `json:"digest,omitempty"`
	Bytes   int64     `json:"bytes"`
	Fetched time.Time `json:"fetched"`
	UsedBy  []string  `json:"usedBy"`
	Broken  bool      `json:"broken,omitempty"`
}

func (p *program) cachePrune(o *pruneFlags) error {
	if o.olderThan.value < 0 {
		return usage("--older-than %s is in the future", o.olderThan.value)
	}
	s, files, err := p.cacheFiles(&o.cacheFlags)
	if err != nil {
		return err
	}
	now, older := time.Now(), time.Time{}
	if o.olderThan.given {
		older = now.Add(-o.olderThan.value)
	}
	files = source.Prunable(files, now, older, o.all)
	if o.dryRun {
		return p.showCache(&o.cacheFlags, files, "%d would be removed, %s\n")
	}
	if err := s.Prune(files); err != nil {
		return err
	}
	return p.showCache(&o.cacheFlags, files, "%d removed, %s\n")
}

func (p *program) cacheFiles(o *cacheFlags) (*source.Sources, []source.CacheFile, error) {
	if _, err := o.format(); err != nil {
		return nil, nil, err
	}
	s, err := p.repositories()
	if err != nil {
		return nil, nil, err
	}
	files, err := s.Cache()
	return s, files, err
}

// showCache prints the files, and their number and total size on standard error.
func (p *program) showCache(o *cacheFlags, files []source.CacheFile, sum string) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	rows, cells, total := []cached{}, [][]string{}, int64(0)
	for _, f := range files {
		rows = append(rows, cached{Kind: f.Kind, Name: f.Name, Digest: f.Digest, Bytes: f.Bytes, Fetched: f.Fetched.UTC(), UsedBy: append([]string{}, f.UsedBy...), Broken: f.Broken})
		name, used := f.Name, strings.Join(f.UsedBy, ", ")
		if name == "" {
			name = strings.TrimPrefix(f.Digest, "sha256:")[:12]
		}
		if f.Broken {
			used = "(broken)"
		}
		cells = append(cells, shortened([]string{f.Kind, name, byteSize(f.Bytes), localTime(f.Fetched), used}, o.width))
		total += f.Bytes
	}
	if form != "text" {
		return p.structured(form, rows)
	}
	if len(rows) > 0 {
		if err := table(p.streams.Out, []string{"KIND", "NAME", "SIZE", "FETCHED", "USED BY"}, cells); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.streams.Err, sum, len(rows), byteSize(total))
	return nil
}

// byteSize formats a number of bytes for users.
func byteSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
