package setrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/templating"
)

// nowhere stands for having no cluster to ask.
type nowhere struct{}

func (nowhere) Engine(string, releaseset.Cluster, string) (*engine.Engine, error) { return nil, nil }

func (nowhere) Foreign(context.Context, []byte, string) (*engine.Engine, error) { return nil, nil }

func (nowhere) Offline(string, releaseset.Cluster) (engine.Offline, error) {
	return engine.Offline{Capabilities: &templating.Capabilities{}}, nil
}

// gate lets nobody pass until as many have arrived as may work side by side.
type gate struct {
	mu           sync.Mutex
	inside, most int
	opens        sync.Once
	open         chan struct{}
	size         int
}

func (g *gate) pass() {
	g.mu.Lock()
	g.inside++
	g.most = max(g.most, g.inside)
	if g.inside == g.size {
		g.opens.Do(func() { close(g.open) })
	}
	g.mu.Unlock()
	<-g.open
	g.mu.Lock()
	g.inside--
	g.mu.Unlock()
}

// As many releases are planned side by side as --jobs says, and not one more.
func TestJobsBoundsWhatIsPlannedSideBySide(t *testing.T) {
	const jobs, releases = 3, 6
	g := &gate{size: jobs, open: make(chan struct{})}
	fetch := func(context.Context, Wanted) (Fetched, error) {
		g.pass()
		return Fetched{}, errors.New("there is no such chart")
	}
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("version: 1\nreleases:\n")
	for i := range releases {
		fmt.Fprintf(&text, "- {name: web-%d, namespace: shop, chart: \"oci://charts.example.com/chart-%d\", version: 1.0.0}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "releases.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	head, err := Open(dir, []string{"releases.yaml"}, Reading{}, fetch)
	if err != nil {
		t.Fatal(err)
	}
	defer head.Close()
	base, err := Open(t.TempDir(), nil, Reading{}, fetch)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	made, err := (&Planner{Head: head, Base: base, Clusters: nowhere{}, Jobs: jobs}).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if made.Summary.Failed != releases || g.most != jobs {
		t.Errorf("%d releases, %d at once, want %d and %d", made.Summary.Failed, g.most, releases, jobs)
	}
}
