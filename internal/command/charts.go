package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/plan"
)

const chartCategory = "Charts"

// fetchFlags say how charts are fetched and read.
type fetchFlags struct {
	offline, allowMismatch bool
	load                   chartload.Options
	access                 accessFlags
	verify                 verifyFlags
}

func (o *fetchFlags) offlineFlag() cli.Flag {
	return &cli.BoolFlag{Name: "offline", Destination: &o.offline, Usage: "fetch nothing: use only charts in the cache", Category: chartCategory}
}

func (o *fetchFlags) mismatchFlag(promised string) cli.Flag {
	return &cli.BoolFlag{Name: "allow-digest-mismatch", Destination: &o.allowMismatch, Usage: "use a chart even if it is not the one that " + promised, Category: chartCategory}
}

const outsideLinks = "allow-outside-symlinks"

// outsideLinksFlag allows symbolic links in the user's own charts and values files.
func (o *fetchFlags) outsideLinksFlag() cli.Flag {
	return &cli.BoolFlag{Name: outsideLinks, Destination: &o.load.OutsideLinks, Usage: "follow symbolic links that lead out of a chart's folder, or out of the folder of a values file", Category: valuesCategory}
}

// chartFlags are the flags of every command that takes a chart, with Helm's names.
type chartFlags struct {
	version, repo, tag string
	devel              bool
	fetchFlags
}

func (o *chartFlags) flags(paths *pathFlags) []cli.Flag {
	return joined(o.choosing(), []cli.Flag{o.access.plainHTTPFlag(), o.offlineFlag(), o.mismatchFlag("its repository's index promises")}, o.verify.flags(), o.access.flags(), paths.flags())
}

// choosing returns the flags that say which chart is meant.
func (o *chartFlags) choosing() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "version", Destination: &o.version, Usage: "`VERSION` of the chart, or a range such as ^1.2; VERSION@sha256:… accepts nothing else", Category: chartCategory},
		&cli.BoolFlag{Name: "devel", Destination: &o.devel, Usage: "consider prereleases, too, if --version is not given", Category: chartCategory},
		&cli.StringFlag{Name: "repo", Destination: &o.repo, Usage: "`URL` of the repository that has the chart", Category: chartCategory},
		&cli.StringFlag{Name: "tag", Destination: &o.tag, Usage: "`TAG` of the chart in a registry, even if it is not a version", Category: chartCategory},
	}
}

// request returns the request for a chart that the name and the flags describe.
func (o *chartFlags) request(name string) resolve.Request {
	return resolve.Request{Chart: name, Repo: o.repo, Version: o.version, Devel: o.devel, Tag: o.tag}
}

func chartText(name string, to *string, usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Destination: to, Usage: usage, Category: chartCategory}
}

// accessFlags say how to connect to the server of a chart.
type accessFlags struct{ source.Access }

// secret reports whether there are credentials among them, which are for one server.
func (o *accessFlags) secret() bool { return o.Username+o.Password+o.CertFile != "" }

func (o *accessFlags) flags() []cli.Flag {
	return []cli.Flag{
		chartText("username", &o.Username, "user name for the chart's server"),
		chartText("password", &o.Password, "password for the chart's server"),
		&cli.BoolFlag{Name: "pass-credentials", Destination: &o.PassAll, Usage: "send the credentials to other servers that an index names, too", Category: chartCategory},
		chartText("cert-file", &o.CertFile, "client certificate `FILE` for the chart's server"),
		chartText("key-file", &o.KeyFile, "client key `FILE` for the chart's server"),
		chartText("ca-file", &o.CAFile, "`FILE` of certificate authorities for the chart's server"),
		&cli.BoolFlag{Name: "insecure-skip-tls-verify", Destination: &o.Insecure, Usage: "do not check the certificate of the chart's server", Category: chartCategory},
	}
}

func (o *accessFlags) plainHTTPFlag() cli.Flag {
	return &cli.BoolFlag{Name: "plain-http", Destination: &o.PlainHTTP, Usage: "connect to the registry without TLS", Category: chartCategory}
}

// located is a chart on this machine: at a path, or fetched.
type located struct {
	// name is the chart's name in messages.
	name    string
	options chartload.Options
	// fetched is nil for a chart that has yet to be read from a path. pin is the chart's origin as
	// a plan stores it; it is nil for a path, unless it is an archive whose signature was verified.
	fetched *source.Fetched
	pin     *plan.ChartSource
}

func (l located) load() (*chart.Chart, []chart.Warning, error) {
	if l.fetched == nil {
		return chartload.Load(l.name, l.options)
	}
	return chartload.Archive(bytes.NewReader(l.fetched.Data), l.name)
}

// complete is load for a chart that is rendered: the archives in its charts/ must be those in its lock.
func (l located) complete() (*chart.Chart, []chart.Warning, error) {
	return dependency.Verified(l.load())
}

func (l located) files() ([]*chart.File, error) {
	if l.fetched == nil {
		return chartload.Files(l.name, l.options)
	}
	return chartload.ArchiveFiles(bytes.NewReader(l.fetched.Data), l.name)
}

// loadChart loads the chart that an argument names, from wherever it is.
func (p *program) loadChart(ctx context.Context, o *chartFlags, name string) (*chart.Chart, []chart.Warning, error) {
	found, err := p.located(ctx, &o.fetchFlags, o.request(name))
	if err != nil {
		return nil, nil, err
	}
	return found.load()
}

// located finds a chart. It fetches a chart that is not on this machine, and verifies an archive if
// signatures are required; each at most once per run, even if the plan is made again.
func (p *program) located(ctx context.Context, o *fetchFlags, request resolve.Request) (located, error) {
	if known, ok := p.charts[request]; ok {
		return known, nil
	}
	s, err := p.sources(o)
	if err != nil {
		return located{}, err
	}
	ref, err := understood(s, request, isThere)
	if err != nil {
		return located{}, err
	}
	var fetched source.Fetched
	switch {
	case ref.Kind != resolve.Local:
		fetched, err = p.fetch(ctx, s, ref)
	case s.Verification.Wanted:
		p.tellLocal(s, ref)
		if fetched, err = readVerified(s, ref.Path); err == nil {
			p.tellFetched(fetched)
		}
	default:
		p.tellLocal(s, ref)
		return located{name: ref.Path, options: o.load}, nil
	}
	if err != nil {
		return located{}, err
	}
	out := located{name: cmp.Or(ref.Path, fetched.FileName()), fetched: &fetched, pin: fetched.Pin(ref, request.Chart)}
	if p.charts == nil {
		p.charts = map[resolve.Request]located{}
	}
	p.charts[request] = out
	return out, nil
}

// understood parses a request into a reference. Plugins are read only if the chart is a URL.
func understood(s *source.Sources, request resolve.Request, local func(string) bool) (resolve.Reference, error) {
	var schemes []string
	if strings.Contains(request.Chart, "://") {
		var err error
		if schemes, err = s.Schemes(); err != nil {
			return resolve.Reference{}, err
		}
	}
	return resolve.Parse(request, local, schemes)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// tellLocal warns if a chart that was found at a path may not be the one the user meant.
func (p *program) tellLocal(s *source.Sources, ref resolve.Reference) {
	if ref.Version.Version != "" || ref.Digest != "" {
		p.warn(fmt.Sprintf("%s is a file or folder here, so --version has no effect", ref.Path))
	}
	repository, name, ok := strings.Cut(ref.Path, "/")
	if !ok {
		return
	}
	all, err := s.Repositories()
	if err != nil {
		return // the list is needed for the warning only
	}
	if _, known := all.Find(repository); known {
		p.warn(fmt.Sprintf("%s is a file or folder here, and is used instead of chart %s of repository %s", ref.Path, name, repository))
	}
}

// fetch fetches a chart and prints which one it is.
func (p *program) fetch(ctx context.Context, s *source.Sources, ref resolve.Reference) (source.Fetched, error) {
	found, err := s.Find(ctx, ref)
	p.warnAll(found.Warnings)
	if err != nil {
		return source.Fetched{}, err
	}
	fetched, warnings, err := dependency.Fetch(ctx, s, found)
	if err != nil {
		return source.Fetched{}, err
	}
	p.warnAll(warnings)
	if fetched.Mismatch != nil {
		p.warn(strings.TrimSuffix(fetched.Mismatch.Error(), ": it is not used") + "; it is used because of --allow-digest-mismatch")
	}
	p.tellFetched(fetched)
	return fetched, nil
}

// tellFetched prints which chart is used.
func (p *program) tellFetched(chart source.Fetched) {
	fmt.Fprintln(p.streams.Err, p.mask.Load().Text(chart.String()))
}

// clusterless returns a command line that needs no cluster, without connection flags.
func (p *program) clusterless(args ...string) string {
	return invocation.Invocation{Program: p.invocation.Program}.Command(args...)
}
