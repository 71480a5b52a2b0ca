package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

func (p *program) repoCommand() *cli.Command {
	return &cli.Command{
		Name: "repo", Usage: "add, update, list and remove chart repositories, and create indexes", ArgsUsage: "add|update|list|remove|index",
		Description: describe("Manages the list of chart repositories and their indexes, in Helm's files.", "kubectl release repo add stable https://charts.example.com\nkubectl release repo update"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{p.repoAddCommand(), p.repoUpdateCommand(), p.repoListCommand(), p.repoRemoveCommand(), p.repoIndexCommand()},
	}
}

func timeoutFlag(to *time.Duration) cli.Flag {
	return &cli.DurationFlag{Name: "timeout", Destination: to, Usage: "how long it may take", Value: 2 * time.Minute}
}

// repoAddFlags are the flags of repo add.
type repoAddFlags struct {
	access                                            accessFlags
	forceUpdate, passwordFromStdin, deprecatedAllowed bool
	timeout                                           time.Duration
}

func (p *program) repoAddCommand() *cli.Command {
	var o repoAddFlags
	return &cli.Command{
		Name: "add", Usage: "add a chart repository", ArgsUsage: "NAME URL",
		Description: describe(`Fetches the index of the repository at URL and adds the repository as NAME. A
repository that exists with the same configuration is left alone; with --force-update its
index is fetched again.`, `kubectl release repo add stable https://charts.example.com
kubectl release repo add private https://charts.example.com --username ci --password-stdin`),
		Flags: joined([]cli.Flag{
			&cli.BoolFlag{Name: "force-update", Destination: &o.forceUpdate, Usage: "replace an existing repository of that name"},
			passwordStdinFlag(&o.passwordFromStdin),
			&cli.BoolFlag{Name: "allow-deprecated-repos", Destination: &o.deprecatedAllowed, Usage: "allow the repositories of Helm 2, too, which are gone"},
			timeoutFlag(&o.timeout),
		}, o.access.flags(), p.paths.flags()),
		Action: p.readOnly(takes(2, 2, func(ctx context.Context, args []string) error { return p.repoAdd(ctx, &o, args[0], args[1]) })),
	}
}

func passwordStdinFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "password-stdin", Destination: to, Usage: "read the password from standard input"}
}

func (p *program) repoAdd(ctx context.Context, o *repoAddFlags, name, url string) (err error) {
	a := o.access
	entry := resolve.Repository{
		Name: name, URL: url, Username: a.Username, Password: a.Password, PassCredentialsAll: a.PassAll,
		CertFile: a.CertFile, KeyFile: a.KeyFile, CAFile: a.CAFile, InsecureSkipTLSVerify: a.Insecure,
	}
	if err := usableRepository(entry, o.deprecatedAllowed); err != nil {
		return err
	}
	if entry.Password, err = p.password(entry.Username, entry.Password, o.passwordFromStdin); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	s, err := p.repositories()
	if err != nil {
		return err
	}
	added, err := s.AddRepository(ctx, entry, o.forceUpdate)
	if err != nil {
		return err
	}
	if !added {
		fmt.Fprintf(p.streams.Out, "%q already exists with the same configuration, skipping\n", entry.Name)
		return nil
	}
	fmt.Fprintf(p.streams.Out, "%q has been added to your repositories\n", entry.Name)
	return nil
}

// usableRepository refuses repositories that would otherwise fail only when used. The list of
// those that no longer exist is Helm's (Helm 4.3.1, pkg/cmd/repo_add.go, deprecatedRepos).
func usableRepository(entry resolve.Repository, gone bool) error {
	if resolve.IsRegistry(entry.URL) {
		return usage("%s is a registry, which has no index to add: name its charts directly, %s/NAME", entry.URL, strings.TrimSuffix(entry.URL, "/"))
	}
	for _, name := range []string{"stable", "incubator"} {
		if !gone && resolve.SameURL(entry.URL, "https://kubernetes-charts.storage.googleapis.com") && name == "stable" ||
			!gone && resolve.SameURL(entry.URL, "https://kubernetes-charts-incubator.storage.googleapis.com") && name == "incubator" {
			return usage("repository %s is gone; its charts are at https://charts.helm.sh/%s", entry.URL, name)
		}
	}
	return nil
}

// password returns the user's password: given, from standard input, or typed.
func (p *program) password(user, given string, fromStdin bool) (string, error) {
	switch {
	case fromStdin:
		if given != "" {
			return "", usage("--password and --password-stdin can't be combined")
		}
		data, err := io.ReadAll(io.LimitReader(p.streams.In, inputfile.MaxBytes))
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
	case user == "" || given != "":
		return given, nil
	case !terminal.Is(p.raw.In):
		return "", errors.New("user " + user + " needs a password, and there is no terminal to ask on: use --password-stdin")
	}
	return p.typed("Password")
}

func (p *program) repoUpdateCommand() *cli.Command {
	var o outputFlags
	var timeout time.Duration
	return &cli.Command{
		Name: "update", Aliases: []string{"up"}, Usage: "update the indexes of chart repositories", ArgsUsage: "[NAME...]",
		Description: describe(`Fetches the indexes of all repositories, or of those that are named, if they have
changed. Exits with 1 if one could not be fetched; the others are still updated.`, `kubectl release repo update
kubectl release repo update stable -o json`),
		Flags: joined([]cli.Flag{timeoutFlag(&timeout), o.flag()}, p.paths.flags()),
		Action: p.readOnly(takes(0, math.MaxInt, func(ctx context.Context, args []string) error {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return p.repoUpdate(ctx, &o, args)
		})),
	}
}

// updated is the result for a repository in JSON and YAML output.
type updated struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Changed bool   `json:"changed"`
	Error   string `json:"error,omitempty"`
}

func (p *program) repoUpdate(ctx context.Context, o *outputFlags, names []string) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	s, err := p.repositories()
	if err != nil {
		return err
	}
	chosen, err := p.chosenRepositories(s, names)
	if err != nil {
		return err
	}
	rows, failed := []updated{}, []string{}
	for _, u := range s.UpdateIndexes(ctx, chosen) {
		row := updated{Name: u.Name, URL: resolve.Public(u.URL), Changed: u.Changed}
		if u.Err != nil {
			row.Error = p.errorText(u.Err)
			failed = append(failed, u.Name)
		}
		rows = append(rows, row)
		if form == "text" {
			p.tellUpdate(row)
		}
	}
	if form != "text" {
		if err := p.structured(form, rows); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("not updated: %s", strings.Join(failed, ", "))
	}
	return nil
}

func (p *program) tellUpdate(u updated) {
	switch {
	case u.Error != "":
		fmt.Fprintf(p.streams.Out, "%s: %s\n", u.Name, u.Error)
	case u.Changed:
		fmt.Fprintf(p.streams.Out, "%s: updated\n", u.Name)
	default:
		fmt.Fprintf(p.streams.Out, "%s: nothing new\n", u.Name)
	}
}

// chosenRepositories returns the repositories with the given names, or all if there are none.
func (p *program) chosenRepositories(s *source.Sources, names []string) ([]resolve.Repository, error) {
	known, err := s.Repositories()
	if err != nil {
		return nil, err
	}
	if len(known.All()) == 0 {
		return nil, fmt.Errorf("there are no repositories: add one with %s", p.clusterless("repo", "add"))
	}
	if len(names) == 0 {
		return known.All(), nil
	}
	var out []resolve.Repository
	for _, name := range names {
		r, ok := known.Find(name)
		if !ok {
			return nil, &source.NoRepositoryError{Name: name}
		}
		out = append(out, r)
	}
	return out, nil
}

func (p *program) repoListCommand() *cli.Command {
	var o outputFlags
	var noHeaders bool
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list the chart repositories",
		Description: describe("Lists the configured repositories.", "kubectl release repo list -o json"),
		Flags:       joined([]cli.Flag{o.flag(), noHeadersFlag(&noHeaders)}, p.paths.flags()),
		Action:      p.readOnly(takes(0, 0, func(context.Context, []string) error { return p.repoList(&o, noHeaders) })),
	}
}

func (p *program) repoList(o *outputFlags, noHeaders bool) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	s, err := p.repositories()
	if err != nil {
		return err
	}
	known, err := s.Repositories()
	if err != nil {
		return err
	}
	rows, cells := []map[string]string{}, [][]string{}
	for _, r := range known.All() {
		rows = append(rows, map[string]string{"name": r.Name, "url": resolve.Public(r.URL)})
		cells = append(cells, []string{r.Name, resolve.Public(r.URL)})
	}
	switch {
	case form != "text":
		return p.structured(form, rows)
	case len(rows) == 0:
		fmt.Fprintln(p.streams.Err, "There are no repositories.")
		return nil
	case noHeaders:
		return table(p.streams.Out, nil, cells)
	}
	return table(p.streams.Out, []string{"NAME", "URL"}, cells)
}

func (p *program) repoRemoveCommand() *cli.Command {
	return &cli.Command{
		Name: "remove", Aliases: []string{"rm"}, Usage: "remove chart repositories", ArgsUsage: "NAME...",
		Description: describe("Removes repositories and their cached indexes.", "kubectl release repo remove stable"),
		Flags:       p.paths.flags(),
		Action: p.readOnly(takes(1, 1000, func(ctx context.Context, args []string) error {
			s, err := p.repositories()
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := s.RemoveRepository(ctx, name); err != nil {
					return err
				}
				fmt.Fprintf(p.streams.Out, "%q has been removed from your repositories\n", name)
			}
			return nil
		})),
	}
}
