package source

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Installed is the chart of a release.
type Installed struct {
	Name, Version string
	// From is where it came from according to the release's record; nil if that does not say.
	From *plan.ChartSource
}

// Offer is the newest available chart for a release.
type Offer struct {
	// Version is "" if there is nothing newer.
	Version string
	// Place is where it is: REPO/NAME, or oci://HOST/PATH.
	Place string
	// Guessed reports whether the chart was found in a repository by its name and installed
	// version, because the record does not say where it came from.
	Guessed bool
	// Chart is what to fetch.
	Chart resolve.Reference
	// Err says why it is not known: *NotKnownError, or an error of a registry or an index.
	Err error
}

// NotKnownError says that a chart came from a place that is not known here and is therefore
// not contacted: anybody may have written the record.
type NotKnownError struct {
	What string
	// Registry is the unknown host; "" for a repository.
	Registry string
}

func (e *NotKnownError) Error() string { return e.What }

// Offers returns for each installed chart, in order, whether there is a newer one: in the
// cached indexes of configured repositories, or in registries that are known. Prereleases
// count only with devel.
func (s *Sources) Offers(ctx context.Context, charts []Installed, devel bool) ([]Offer, error) {
	known, err := s.Repositories()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(charts))
	for _, c := range charts {
		names = append(names, c.Name)
	}
	indexes := s.indexesOf(known.All(), names)
	out := make([]Offer, len(charts))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, c := range charts {
		switch {
		case c.From != nil && c.From.Repository != "":
			out[i] = indexes.offer(c, devel)
		case c.From != nil && resolve.IsRegistry(c.From.URL):
			g.Go(func() error {
				out[i] = s.offeredByRegistry(ctx, c, devel)
				return nil
			})
		default:
			out[i] = indexes.guess(c, devel)
		}
	}
	_ = g.Wait()
	return out, ctx.Err()
}

// indexOf is a configured repository with the part of its index that is needed.
type indexOf struct {
	resolve.Repository
	index *resolve.Index
	err   error
}

type indexes []indexOf

func (s *Sources) indexesOf(repositories []resolve.Repository, names []string) indexes {
	out := make(indexes, 0, len(repositories))
	for _, r := range repositories {
		index, err := s.readIndex(r.Name, resolve.Only(names...))
		out = append(out, indexOf{r, index, err})
	}
	return out
}

// versions returns the versions of a chart.
func (i indexOf) versions(name string) ([]string, error) {
	if i.err != nil {
		return nil, i.err
	}
	entries, _, err := i.index.Versions(name)
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Version)
	}
	return out, err
}

func (i indexOf) found(c Installed, version string) Offer {
	return Offer{
		Version: version, Place: i.Name + "/" + c.Name,
		Chart: resolve.Reference{Kind: resolve.Configured, Repository: i.Name, Name: c.Name, Version: resolve.Wanted{Version: version}},
	}
}

// offer looks in the repository that the chart came from, whatever its name is here.
func (all indexes) offer(c Installed, devel bool) Offer {
	for _, i := range all {
		if !resolve.SameURL(resolve.Public(i.URL), c.From.Repository) {
			continue
		}
		there, err := i.versions(c.Name)
		if err != nil {
			return Offer{Err: err}
		}
		return i.found(c, resolve.Newer(c.Version, there, devel))
	}
	return Offer{Err: &NotKnownError{What: fmt.Sprintf("repository %s is not configured", c.From.Repository)}}
}

// guess looks for the newest version in all repositories that have the installed one.
func (all indexes) guess(c Installed, devel bool) Offer {
	var best *Offer
	for _, i := range all {
		there, err := i.versions(c.Name)
		if err != nil || !slices.Contains(there, c.Version) {
			continue
		}
		newer := resolve.Newer(c.Version, there, devel)
		if best == nil || newer != "" && (best.Version == "" || resolve.Newer(best.Version, []string{newer}, devel) != "") {
			found := i.found(c, newer)
			found.Guessed = true
			best = &found
		}
	}
	if best == nil {
		return Offer{Err: &NotKnownError{What: fmt.Sprintf("no known repository has chart %s %s", c.Name, c.Version)}}
	}
	return *best
}

// offeredByRegistry looks for a newer tag of a chart, in a registry that is known here.
func (s *Sources) offeredByRegistry(ctx context.Context, c Installed, devel bool) Offer {
	image, _, err := resolve.ParseImage(c.From.URL)
	if err != nil {
		return Offer{Err: err}
	}
	image.Tag = ""
	known, err := s.knows(ctx, image)
	if err != nil {
		return Offer{Err: err}
	}
	if !known {
		return Offer{Err: &NotKnownError{What: fmt.Sprintf("registry %s is not known here", image.Host), Registry: image.Host}}
	}
	tags, err := s.Tags(ctx, image)
	if err != nil {
		return Offer{Err: err}
	}
	o := Offer{Version: resolve.NewerTag(c.Version, tags, devel), Place: image.String()}
	image.Tag = resolve.TagOf(o.Version)
	o.Chart = resolve.Reference{Kind: resolve.Registry, Image: image}
	return o
}

// knows reports whether a registry is known on this machine, from credentials or settings.
// Anybody with write access to records must not be able to have requests sent anywhere.
func (s *Sources) knows(ctx context.Context, i resolve.Image) (bool, error) {
	if s.Settings.Names(i.Host) {
		return true, nil
	}
	credential, err := s.credential(ctx, i)
	return credential.Username+credential.Password+credential.RefreshToken+credential.AccessToken != "", err
}
