package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// manyFetch returns a function that fetches charts one at a time, because each is reported, and
// none twice. The credentials of flags are not for dependencies: a chart of a pull request must not
// be able to have them sent anywhere. Nor are flags that do without TLS: logins that are kept for the
// server of a dependency are sent to it. A CA file counts there in addition to the system's. The same
// goes for a chart on a server that no file of the set names, but variables that only the cluster has.
func (p *program) manyFetch(o *fetchFlags) setrun.Fetch {
	var mu sync.Mutex
	return func(ctx context.Context, which setrun.Wanted) (setrun.Fetched, error) {
		mu.Lock()
		defer mu.Unlock()
		p.hideSecrets(which.Secrets)
		flags, request := *o, requestFor(which.Chart)
		s, err := p.sources(o)
		if err != nil {
			return setrun.Fetched{}, err
		}
		if which.Dependency || !slices.Contains(p.servers, serverOf(s, request)) {
			flags.access.Access = source.Access{Server: resolve.Server{CAFile: o.access.CAFile}, Elsewhere: true}
		}
		found, err := p.located(ctx, &flags, request)
		if isA[*source.OfflineError](err) {
			return setrun.Fetched{}, fmt.Errorf("%w; --no-cluster fetches it", err)
		} else if err != nil {
			return setrun.Fetched{}, err
		}
		if found.fetched == nil {
			return setrun.Fetched{}, fmt.Errorf("chart %s: what is at that path is not in the repository of the set", which.Chart)
		}
		return setrun.Fetched{Name: found.name, Data: found.fetched.Data, Pin: found.pin}, nil
	}
}

func requestFor(c releaseset.Chart) resolve.Request {
	return resolve.Request{Chart: c.Name, Repo: c.Repo, Version: c.Version, Tags: c.Tags, PlusTags: c.PlusTags, AnyBuild: c.AnyBuild}
}

// oneServer refuses the credentials of flags for charts from several servers: they were given for
// one of them, nobody says for which, and the others, which the files of a pull request may name,
// must not get them. A CA file then counts in addition to the system's authorities. A chart whose
// name can't be read, as it is not complete or not a name, does not count: it gets nothing of what was
// given for the others.
func (p *program) oneServer(o *fetchFlags, charts []resolve.Request, instead string) error {
	if o.offline || o.access.Access == (source.Access{}) {
		return nil
	}
	s, err := p.sources(o)
	if err != nil {
		return err
	}
	p.servers = nil
	for _, c := range charts {
		if server := serverOf(s, c); server != "" {
			p.servers = append(p.servers, server)
		}
	}
	slices.Sort(p.servers)
	p.servers = slices.Compact(p.servers)
	several := len(p.servers) > 1
	if several && o.access.secret() {
		return usage("--username, --password and --cert-file are for one server, and the charts are on %s: use %s", strings.Join(p.servers, ", "), instead)
	}
	o.access.Elsewhere = several && o.access.CAFile != ""
	return nil
}

// serverOf returns the origin of the server that has a chart (see source.Sources.Origin); "" also if
// its name can't be read.
func serverOf(s *source.Sources, c resolve.Request) string {
	ref, err := understood(s, c, isThere)
	if err != nil {
		return ""
	}
	return s.Origin(ref)
}
