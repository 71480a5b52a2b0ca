package sdk

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A program that goes on sees what is published while it runs: a newer version when it loads the chart
// again, and before it applies a plan that the version has other bytes now.
func TestSourcesSeeWhatIsPublished(t *testing.T) {
	server, sources := sourcetest.Serve(t, sourcetest.Options{}), ownSources(t)
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	load := func() *Chart {
		t.Helper()
		loaded, err := sources.LoadChart(t.Context(), "alpha", ChartOptions{Repo: server.URL})
		fine(t, err)
		return loaded
	}
	first := load()
	server.Publish(t, map[string][]string{"alpha": {"1.0.0", "1.1.0"}})
	if second := load(); second.Version() != "1.1.0" {
		t.Errorf("the newest is %s", second.Version())
	}
	client, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{Sources: sources})
	fine(t, err)
	again := sourcetest.Chart(t, "alpha", "1.0.0", "published again")
	server.Put("/alpha-1.0.0.tgz", again)
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(again)}))
	_, err = client.Apply(t.Context(), &Plan{plan: &plan.Plan{Document: plan.Document{ChartSource: first.pin}}})
	if stale, is := errors.AsType[*StaleError](err); !is || !strings.Contains(stale.Error(), sourcetest.Digest(again)) {
		t.Errorf("%v", err)
	}
}

// One answer that is missing is not remembered, and what is being fetched is not taken for missing.
func TestSourcesAskAgain(t *testing.T) {
	server, sources := sourcetest.Serve(t, sourcetest.Options{
		Delay: 50 * time.Millisecond,
		Fault: func(w http.ResponseWriter, r *http.Request, n int) bool {
			if n > 0 || r.URL.Path != "/index.yaml" {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			return true
		},
	}), ownSources(t)
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	if _, err := sources.LoadChart(t.Context(), "alpha", ChartOptions{Repo: server.URL}); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("%v", err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := sources.LoadChart(t.Context(), "alpha", ChartOptions{Repo: server.URL}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// ownSources returns the sources of a machine on which nothing is configured.
func ownSources(t *testing.T) *Sources {
	t.Helper()
	sources, err := FindSources(func(string) (string, bool) { return "", false }, t.TempDir())
	fine(t, err)
	return sources
}
