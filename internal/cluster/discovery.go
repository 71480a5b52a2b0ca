package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// acceptDiscovery is exactly what client-go's own discovery accepts: it is part of the key in the
// cache of HTTP responses, which we thus share with kubectl 1.37 and later. Older versions accept a
// beta as well, so they and we don't use each other's entries. That rarely matters: all of them look
// at the files of cache first.
const acceptDiscovery = discovery.AcceptV2 + "," + discovery.AcceptV1

// answers are the results of discovery.
type answers struct {
	Groups    []*metav1.APIGroup
	Resources []*metav1.APIResourceList
	// Failed says why group versions did not answer.
	Failed map[schema.GroupVersion]string
}

// errSeparate says that a server does not support aggregated discovery.
var errSeparate = errors.New("discovery is not aggregated")

// ask reads the whole API: with two concurrent requests if the server aggregates its discovery
// (Kubernetes 1.30 and later,
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery), otherwise with
// one more for each group version. Group versions that fail are noted with the reason.
func ask(ctx context.Context, server rest.Interface) (answers, error) {
	a, err := askAggregated(ctx, server)
	if errors.Is(err, errSeparate) || apierrors.IsNotFound(err) || apierrors.IsNotAcceptable(err) {
		a, err = askSeparately(ctx, server)
	}
	if err == nil && len(a.Groups) == 0 {
		return a, errors.New("it reports no API groups")
	}
	if err == nil && !hasCore(a) {
		return a, apierrors.NewServiceUnavailable("it reports no core API")
	}
	return a, err
}

// hasCore reports whether the core API is among the answers. client-go takes a 404 of /api or /api/v1, as of a proxy,
// for an answer without it; taken at its word, it would mean that no Secret exists.
func hasCore(a answers) bool {
	core := schema.GroupVersion{Version: "v1"}
	return a.Failed[core] != "" || slices.ContainsFunc(a.Resources, func(l *metav1.APIResourceList) bool {
		return l.GroupVersion == core.String() && len(l.APIResources) > 0
	})
}

func askAggregated(ctx context.Context, server rest.Interface) (answers, error) {
	paths := []string{"/api", "/apis"}
	parts := make([]answers, len(paths))
	group, ctx := errgroup.WithContext(ctx)
	for i, path := range paths {
		group.Go(func() (err error) {
			parts[i], err = part(ctx, server, path)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return answers{}, err
	}
	whole := answers{Failed: map[schema.GroupVersion]string{}}
	for _, p := range parts {
		whole.Groups = append(whole.Groups, p.Groups...)
		whole.Resources = append(whole.Resources, p.Resources...)
		for gv, why := range p.Failed {
			whole.Failed[gv] = why
		}
	}
	return whole, nil
}

// part reads one of the two roots of the API.
func part(ctx context.Context, server rest.Interface, path string) (answers, error) {
	var contentType string
	body, err := rawBody(server.Get().AbsPath(path).SetHeader("Accept", acceptDiscovery).MaxRetries(0).Do(ctx).ContentType(&contentType))
	if err != nil {
		return answers{}, err
	}
	kind := schema.GroupVersionKind{Group: apidiscovery.GroupName, Version: "v2", Kind: "APIGroupDiscoveryList"}
	if aggregated, err := discovery.ContentTypeIsGVK(contentType, kind); err != nil || !aggregated {
		return answers{}, errSeparate
	}
	var list apidiscovery.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return answers{}, err
	}
	groups, resources, failed := discovery.SplitGroupsAndResources(list)
	a := answers{Failed: map[schema.GroupVersion]string{}}
	for i := range groups.Groups {
		group := &groups.Groups[i]
		a.Groups = append(a.Groups, group)
		for _, v := range group.Versions {
			if list := resources[schema.GroupVersion{Group: group.Name, Version: v.Version}]; list != nil {
				a.Resources = append(a.Resources, list)
			}
		}
	}
	for gv, reason := range failed {
		a.Failed[gv] = failure(reason)
	}
	return a, nil
}

func askSeparately(ctx context.Context, server rest.Interface) (answers, error) {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, discovery.NewDiscoveryClient(server))
	a := answers{Groups: groups, Resources: lists, Failed: map[schema.GroupVersion]string{}}
	var partial *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &partial) {
		for gv, reason := range partial.Groups {
			a.Failed[gv] = failure(reason)
		}
		return a, nil
	}
	return a, err
}

// failure returns why a group version can't be discovered. Aggregated discovery only says that it
// is stale.
func failure(reason error) string {
	var stale discovery.StaleGroupVersionError
	if errors.As(reason, &stale) {
		return silent
	}
	return message(reason)
}
