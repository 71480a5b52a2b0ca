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
// server of a dependency are sent to it. A CA file counts there in addition to the system's.
func (p *program) manyFetch(o *fetchFlags) setrun.Fetch {
	var mu sync.Mutex
	return func(ctx context.Context, which releaseset.Chart, dependency bool) (setrun.Fetched, error) {
		mu.Lock()
		defer mu.Unlock()
		flags := *o
		if dependency {
			flags.access.Access = source.Access{Server: resolve.Server{CAFile: o.access.CAFile}, Elsewhere: true}
		}
		found, err := p.located(ctx, &flags, requestFor(which))
		if err != nil {
			return setrun.Fetched{}, err
		}
		if found.fetched == nil {
			return setrun.Fetched{}, fmt.Errorf("chart %s: what is at that path is not in the repository of the set", which)
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
// name can't be read is reported where it is fetched.
func (p *program) oneServer(o *fetchFlags, charts []resolve.Request, instead string) error {
	secret := o.access.Username+o.access.Password+o.access.CertFile != ""
	if o.offline || !secret && o.access.CAFile == "" {
		return nil
	}
	s, err := p.sources(o)
	if err != nil {
		return err
	}
	var servers []string
	for _, c := range charts {
		if ref, err := understood(s, c, isThere); err == nil && s.Origin(ref) != "" {
			servers = append(servers, s.Origin(ref))
		}
	}
	slices.Sort(servers)
	servers = slices.Compact(servers)
	o.access.Elsewhere = len(servers) > 1
	if o.access.Elsewhere && secret {
		return usage("--username, --password and --cert-file are for one server, and the charts are on %s: use %s", strings.Join(servers, ", "), instead)
	}
	return nil
}

// fetched returns the charts of the selected entries, of both sides, that are not in their trees,
// each once.
func (t *trees) fetched(selector releaseset.Selector) []releaseset.Chart {
	var out []releaseset.Chart
	for _, s := range t.sides() {
		for _, e := range s.Set.Entries {
			if e.Chart.Path == "" && e.Chart.Name != "" && selector.Selects(e) && !slices.Contains(out, e.Chart) {
				out = append(out, e.Chart)
			}
		}
	}
	return out
}
