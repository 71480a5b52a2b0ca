package sdk

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A folder is used whatever version is asked for; the plan says so.
func TestVersionOfAFolder(t *testing.T) {
	folder := t.TempDir()
	fine(t, os.WriteFile(filepath.Join(folder, "Chart.yaml"), []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"), 0o600))
	chart, err := ownSources(t).LoadChart(t.Context(), folder, ChartOptions{Version: "2.0.0"})
	fine(t, err)
	if len(chart.warnings) != 1 || !strings.Contains(chart.warnings[0].String(), "it is a file or folder here, so Version has no effect") {
		t.Errorf("%v", chart.warnings)
	}
}

// Connections to the servers of charts do not outlast the loading of a chart.
func TestConnectionsAreClosed(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "x")
	index := sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(archive)})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			_, _ = w.Write(index)
			return
		}
		_, _ = w.Write(archive)
	}))
	var open atomic.Int32
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		case http.StateActive, http.StateIdle, http.StateHijacked:
		}
	}
	server.Start()
	defer server.Close()
	_, err := ownSources(t).LoadChart(t.Context(), "alpha", ChartOptions{Repo: server.URL})
	fine(t, err)
	for waited := 0; open.Load() > 0 && waited < 1000; waited++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := open.Load(); n > 0 {
		t.Errorf("%d connections are still open", n)
	}
}
