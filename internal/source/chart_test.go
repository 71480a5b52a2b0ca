package source

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

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
