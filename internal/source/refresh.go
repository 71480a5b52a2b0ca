package source

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Refresh updates the indexes of the repositories that the references use, in parallel, and no
// others. An index is updated once per run. With skip, those of configured repositories are left
// as they are. With Offline it does nothing.
func (s *Sources) Refresh(ctx context.Context, refs []resolve.Reference, skip bool) error {
	known, err := s.Repositories()
	if err != nil || s.Offline {
		return err
	}
	var wanted []resolve.Repository
	first := "" // of the configured ones, which have credentials of their own
	for _, r := range refs {
		switch r.Kind {
		case resolve.Configured:
			e, ok := known.Find(r.Repository)
			first = cmp.Or(first, e.URL)
			if ok && !skip {
				wanted = append(wanted, e)
			}
		case resolve.Unconfigured:
			s.bind(r.URL)
			wanted = append(wanted, resolve.Repository{Name: unmanaged(r.URL), URL: r.URL})
		case resolve.Registry:
			s.bind(r.Image.String())
		case resolve.Remote, resolve.Local, resolve.Vendored:
		}
	}
	if first != "" {
		s.bind(first)
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, r := range wanted {
		g.Go(func() error {
			access := accessOf(r)
			if r.Name == unmanaged(r.URL) {
				access = s.accessTo(r.URL)
			}
			return s.refresh(ctx, r, access)
		})
	}
	return g.Wait()
}

// refresh updates the index of a repository, unless this run already has. Calls at the same time
// share one request.
func (s *Sources) refresh(ctx context.Context, r resolve.Repository, a Access) error {
	_, err, _ := s.refreshing.Do(r.Name, func() (any, error) {
		s.mutex.Lock()
		fresh := s.fresh[r.Name]
		s.mutex.Unlock()
		if fresh {
			return nil, nil
		}
		if _, err := s.fetchIndex(ctx, r.Name, r.URL, a); err != nil {
			return nil, err
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.fresh == nil {
			s.fresh = map[string]bool{}
		}
		s.fresh[r.Name] = true
		return nil, nil
	})
	return err
}

// bind binds the credentials from flags to the origin that is named first, and reports whether
// this is it.
func (s *Sources) bind(at string) bool {
	origin := originOf(at)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.named = cmp.Or(s.named, origin)
	return origin != "" && s.named == origin
}

// originOf returns the origin of a URL, or "" if it can't be read. A registry counts as https,
// which only settings of the user turn into http.
func originOf(at string) string {
	if rest, ok := strings.CutPrefix(at, resolve.Scheme); ok {
		at = "https://" + rest
	}
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return resolve.Origin(u)
}

// Origin returns the scheme, host and port of the server that a reference names, by which
// credentials are kept apart (see resolve.Origin); "" for a reference to no server or to a
// repository that is not known.
func (s *Sources) Origin(r resolve.Reference) string {
	switch r.Kind {
	case resolve.Configured:
		known, err := s.Repositories()
		if e, ok := known.Find(r.Repository); err == nil && ok {
			return originOf(e.URL)
		}
	case resolve.Unconfigured, resolve.Remote:
		return originOf(r.URL)
	case resolve.Registry:
		return originOf(r.Image.String())
	case resolve.Local, resolve.Vendored:
	}
	return ""
}

// accessTo returns the access from flags for a server. Their credentials go to the origin that is
// named first, and to no other; see Access.Elsewhere.
func (s *Sources) accessTo(at string) Access {
	if s.bind(at) {
		return s.Access
	}
	a := s.Access.elsewhere()
	a.Username, a.Password = "", ""
	return a
}

// Offer provides local archives, to be used instead of fetching archives with their digests.
func (s *Sources) Offer(archives ...[]byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.offered == nil {
		s.offered = map[string][]byte{}
	}
	for _, a := range archives {
		s.offered[Digest(a)] = a
	}
}

// At returns the archive with a digest, if it was offered or is in the cache.
func (s *Sources) At(digest string) ([]byte, bool) { return s.cached(digest, chartContent) }
