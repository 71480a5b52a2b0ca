package source

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A range by Flux's rules, which takes v1.2.3 for a version, and one by Helm's are not confused offline.
func TestOfflineRangesByTwoRules(t *testing.T) {
	registry, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	for tag, version := range map[string]string{"1.0.0": "1.0.0", "v1.1.0": "1.1.0"} {
		registry.PutImage(t, "charts/alpha", tag, sourcetest.Chart(t, "alpha", version, ""))
	}
	registry.Put("/v2/charts/alpha/tags/list", []byte(`{"name":"charts/alpha","tags":["1.0.0","v1.1.0"]}`))
	image := resolve.Image{Host: strings.TrimPrefix(registry.URL, "http://"), Path: "charts/alpha"}
	helm := resolve.Reference{Kind: resolve.Registry, Image: image, Version: resolve.Wanted{Version: "^1", Range: true}}
	flux := helm
	flux.Tags = resolve.AnyTag
	for _, ref := range []resolve.Reference{helm, flux} {
		_, err := fetch(t, s, ref)
		must(t, err)
	}
	s.Offline = true
	for want, ref := range map[string]resolve.Reference{"1.0.0": helm, "v1.1.0": flux} {
		if f, err := fetch(t, s, ref); err != nil || f.Tag() != want {
			t.Errorf("%s, %v, want %s", f.Tag(), err, want)
		}
	}
}

// Two repositories may list one archive, which is fetched for both at the same time: what is said
// about the chart, and whether it has to be signed, is decided for each of them.
func TestOneArchiveOfTwoRepositories(t *testing.T) {
	alpha := sourcetest.Chart(t, "alpha", "1.0.0", "")
	archives := sourcetest.Serve(t, sourcetest.Options{Delay: 100 * time.Millisecond})
	archives.Put("/alpha-1.0.0.tgz", alpha)
	s := ours(t)
	_, key := sourcetest.CosignKey(t)
	for _, name := range []string{"a", "b"} {
		server := sourcetest.Serve(t, sourcetest.Options{})
		server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: archives.URL + "/alpha-1.0.0.tgz", Digest: sourcetest.Digest(alpha)}))
		add(t, s, name, server, Access{})
		s.Settings.Verify = []resolve.Rule{{Prefix: server.URL, Key: key}}
	}
	var fetched [2]Fetched
	var errs [2]error
	var all sync.WaitGroup
	for i, name := range []string{"a", "b"} {
		found, err := s.Find(t.Context(), configured(name, "alpha", ""))
		must(t, err)
		all.Go(func() { fetched[i], errs[i] = s.Fetch(t.Context(), found) })
	}
	all.Wait()
	if errs[0] != nil || fetched[0].Repository != "a" {
		t.Errorf("%v, %v", fetched[0], errs[0])
	}
	if _, is := errors.AsType[*UnverifiedError](errs[1]); !is {
		t.Errorf("%v, %v", fetched[1], errs[1])
	}
}
