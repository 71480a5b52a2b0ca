package command

import (
	"context"
	"fmt"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
	"github.com/kubectl-release/kubectl-release/templating"
)

// manyClusters connects to each cluster of a set once. It implements setrun.Clusters.
type manyClusters struct {
	offline  bool
	reader   *readerFlags
	connect  func(context, user string) (*session, error)
	capable  *templating.Capabilities
	mu       sync.Mutex
	sessions map[[2]string]func() (*session, error)
}

func (p *program) manyClusters(offline bool) *manyClusters {
	return &manyClusters{
		offline: offline, sessions: map[[2]string]func() (*session, error){},
		connect: func(name, user string) (*session, error) {
			o := p.connection
			o.context = orDefault(name, o.context)
			if user != "" {
				o.as, o.asUID, o.asGroups = user, "", cli.StringSlice{}
			}
			return p.connectAs(&o)
		},
	}
}

// session is the connection to a cluster, by its context and the user who is impersonated.
func (m *manyClusters) session(c releaseset.Cluster, user string) (*session, error) {
	m.mu.Lock()
	key := [2]string{c.Context, user}
	once, ok := m.sessions[key]
	if !ok {
		once = sync.OnceValues(func() (*session, error) {
			s, err := m.connect(c.Context, user)
			if err == nil && m.reader != nil {
				m.reader.apply(s)
			}
			return s, err
		})
		m.sessions[key] = once
	}
	m.mu.Unlock()
	return once()
}

// Engine implements setrun.Clusters.
func (m *manyClusters) Engine(name string, c releaseset.Cluster, user string) (*engine.Engine, error) {
	if m.offline {
		return nil, nil
	}
	s, err := m.session(c, user)
	if err != nil {
		if name != "" {
			err = fmt.Errorf("cluster %s: %w", name, err)
		}
		return nil, err
	}
	return s.engine, nil
}

// Offline implements setrun.Clusters.
func (m *manyClusters) Offline(name string, c releaseset.Cluster) (engine.Offline, error) {
	caps := *m.capable
	if c.KubeVersion != "" {
		version, err := templating.ParseKubeVersion(c.KubeVersion)
		if err != nil {
			return engine.Offline{}, fmt.Errorf("cluster %s: kubeVersion: %w", name, err)
		}
		caps.KubeVersion = version
	}
	caps.APIVersions = append(caps.APIVersions[:len(caps.APIVersions):len(caps.APIVersions)], c.APIVersions...)
	return engine.Offline{Capabilities: &caps}, nil
}

// manyFetch fetches charts one after the other: fetching is told, and known charts are
// not fetched again.
func (p *program) manyFetch(o *fetchFlags) setrun.Fetch {
	var mu sync.Mutex
	return func(ctx context.Context, which releaseset.Chart) (setrun.Fetched, error) {
		mu.Lock()
		defer mu.Unlock()
		found, err := p.located(ctx, o, resolve.Request{Chart: which.Name, Repo: which.Repo, Version: which.Version})
		if err != nil {
			return setrun.Fetched{}, err
		}
		if found.fetched == nil {
			return setrun.Fetched{}, fmt.Errorf("chart %s: what is at that path is not in the repository of the set", which)
		}
		return setrun.Fetched{Name: found.name, Data: found.fetched.Data, Pin: found.pin}, nil
	}
}
