package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/source"
)

func (p *program) cacheCommand() *cli.Command {
	return &cli.Command{
		Name: "cache", Usage: "list and prune what was fetched", ArgsUsage: "list|prune",
		Description: describe("Looks after the cache of indexes and charts, which Helm 4 fills, too, and never empties.", "kubectl release cache list\nkubectl release cache prune --older-than 720h"),
		Action: p.readOnly(func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
			}
			return cli.ShowSubcommandHelp(c)
		}),
		Subcommands: []*cli.Command{p.cacheListCommand(), p.cachePruneCommand()},
	}
}

func (p *program) cacheListCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list what the cache holds",
		Description: describe("Lists indexes, charts and manifests with their sizes, when they were fetched, and what\nleads to them. What is broken has another digest than it is kept under.", "kubectl release cache list -o json"),
		Flags:       joined([]cli.Flag{outputFlag(), &cli.IntFlag{Name: "max-col-width", Usage: "`WIDTH` of a column; 0 is any", Value: 60}}, pathFlags()),
		Action:      p.readOnly(p.cacheList),
	}
}

func (p *program) cachePruneCommand() *cli.Command {
	return &cli.Command{
		Name: "prune", Usage: "remove what nothing leads to",
		Description: describe("Removes what no index of a known repository, no tag and no URL leads to, and what is\nbroken. With --older-than also what was fetched longer ago. What is missed is fetched again.", "kubectl release cache prune --dry-run\nkubectl release cache prune --older-than 720h"),
		Flags: joined([]cli.Flag{
			&cli.DurationFlag{Name: "older-than", Usage: "also remove what was fetched longer ago than this, used or not; 720h are 30 days"},
			&cli.BoolFlag{Name: "all", Usage: "remove everything"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be removed, and remove nothing"},
			outputFlag(), &cli.IntFlag{Name: "max-col-width", Usage: "`WIDTH` of a column; 0 is any", Value: 60},
		}, pathFlags()),
		Action: p.readOnly(p.cachePrune),
	}
}

// cached is the answer for machines.
type cached struct {
	Kind    string    `json:"kind"`
	Name    string    `json:"name,omitempty"`
	Digest  string    `json:"digest,omitempty"`
	Bytes   int64     `json:"bytes"`
	Fetched time.Time `json:"fetched"`
	UsedBy  []string  `json:"usedBy"`
	Broken  bool      `json:"broken,omitempty"`
}

func (p *program) cacheList(c *cli.Context) error {
	_, files, err := cacheFiles(c)
	if err != nil {
		return err
	}
	return p.showCache(c, files, "%d in the cache, %s\n")
}

func (p *program) cachePrune(c *cli.Context) error {
	if c.Duration("older-than") < 0 {
		return usage("--older-than %s is in the future", c.Duration("older-than"))
	}
	s, files, err := cacheFiles(c)
	if err != nil {
		return err
	}
	now, older := time.Now(), time.Time{}
	if c.IsSet("older-than") {
		older = now.Add(-c.Duration("older-than"))
	}
	files = source.Prunable(files, now, older, c.Bool("all"))
	if c.Bool("dry-run") {
		return p.showCache(c, files, "%d would be removed, %s\n")
	}
	if err := s.Prune(files); err != nil {
		return err
	}
	return p.showCache(c, files, "%d removed, %s\n")
}

func cacheFiles(c *cli.Context) (*source.Sources, []source.CacheFile, error) {
	if _, err := arguments(c, 0, 0); err != nil {
		return nil, nil, err
	}
	if _, err := format(c); err != nil {
		return nil, nil, err
	}
	s, err := repositories(c)
	if err != nil {
		return nil, nil, err
	}
	files, err := s.Cache()
	return s, files, err
}

// showCache prints files, and on standard error how many there are and their size.
func (p *program) showCache(c *cli.Context, files []source.CacheFile, sum string) error {
	form, err := format(c)
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
		cells = append(cells, shortened([]string{f.Kind, name, byteSize(f.Bytes), localTime(f.Fetched), used}, c.Int("max-col-width")))
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

// byteSize is a number of bytes for people.
func byteSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
