package command

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/templating"
)

// manyClusters connects once to each cluster of a set. It implements setrun.Clusters.
type manyClusters struct {
	offline  bool
	reader   *readerFlags
	connect  func(to address) (*session, error)
	capable  *templating.Capabilities
	mu       sync.Mutex
	sessions map[address]func() (*session, error)
}

// address identifies a cluster by its context, or by a kubeconfig that is not the user's own,
// plus the user to impersonate.
type address struct{ context, foreign, user string }

func (p *program) manyClusters(offline bool) *manyClusters {
	return &manyClusters{
		offline: offline, sessions: map[address]func() (*session, error){},
		connect: func(to address) (*session, error) {
			o := p.connection
			o.context = cmp.Or(to.context, o.context)
			if to.foreign != "" {
				o.foreign = []byte(to.foreign)
			}
			if to.user != "" || to.foreign != "" {
				o.as, o.asUID, o.asGroups = to.user, "", cli.StringSlice{}
			}
			s, err := p.connectAs(&o)
			if err == nil {
				s.engine.Invocation = s.engine.Invocation.Using(to.context)
			}
			return s, err
		},
	}
}

// session returns the connection to a cluster, once ready (if not nil) has checked it.
func (m *manyClusters) session(to address, ready func(*session) error) (*session, error) {
	m.mu.Lock()
	once, ok := m.sessions[to]
	if !ok {
		once = sync.OnceValues(func() (*session, error) {
			s, err := m.connect(to)
			if err == nil && ready != nil {
				err = ready(s)
			}
			if err == nil && m.reader != nil {
				m.reader.apply(s)
			}
			return s, err
		})
		m.sessions[to] = once
	}
	m.mu.Unlock()
	return once()
}

// foreignWait is how long a cluster whose kubeconfig is in a Secret may take to answer.
const foreignWait = 10 * time.Second

// Engine implements setrun.Clusters.
func (m *manyClusters) Engine(name string, c releaseset.Cluster, user string) (*engine.Engine, error) {
	if m.offline {
		return nil, nil
	}
	s, err := m.session(address{context: c.Context, user: user}, nil)
	if err != nil {
		if name != "" {
			err = fmt.Errorf("cluster %s: %w", name, err)
		}
		return nil, err
	}
	return s.engine, nil
}

// Foreign implements setrun.Clusters.
func (m *manyClusters) Foreign(ctx context.Context, kubeconfig []byte, user string) (*engine.Engine, error) {
	s, err := m.session(address{foreign: string(kubeconfig), user: user}, func(s *session) error {
		ctx, cancel := context.WithTimeout(ctx, foreignWait)
		defer cancel()
		_, err := s.engine.Cluster.Facts(ctx)
		return err
	})
	if err != nil {
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
