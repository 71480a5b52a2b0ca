//go:build cluster

package sdk_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/sdk"
)

// A plan is pinned to the bytes of the chart that was fetched for it: it is stale if
// the source now has different bytes, but the source need not be reachable to apply it.
func TestSources(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.PutImage(t, "charts/alpha", "1.0.0", sourcetest.Chart(t, "alpha", "1.0.0", "first"))
	server.Put("/v2/charts/alpha/tags/list", []byte(`{"name":"charts/alpha","tags":["1.0.0"]}`))
	none := func(string) (string, bool) { return "", false }
	sources, err := sdk.FindSources(none, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	client, err := sdk.New(control.Config(t), sdk.Options{Sources: sources, Warn: func(text string) { warned = append(warned, text) }})
	if err != nil {
		t.Fatal(err)
	}
	chart, err := sources.LoadChart(t.Context(), "oci://"+strings.TrimPrefix(server.URL, "http://")+"/charts/alpha", sdk.ChartOptions{Version: "^1"})
	if err != nil {
		t.Fatal(err)
	}
	plan := func() *sdk.Plan {
		return planned(t, client, sdk.Install{Release: sdk.Release{Namespace: control.Namespace(t), Name: "web"}, Chart: chart})
	}
	unmoved, moved, unasked, unanswered := plan(), plan(), plan(), plan()
	if _, err := client.Apply(t.Context(), unmoved); err != nil {
		t.Error(err)
	}
	server.PutImage(t, "charts/alpha", "1.0.0", sourcetest.Chart(t, "alpha", "1.0.0", "second"))
	result, err := client.Apply(t.Context(), moved)
	var stale *sdk.StaleError
	if !errors.As(err, &stale) || !strings.Contains(err.Error(), "was sha256:") || result.Written {
		t.Errorf("%+v, %v", result, err)
	}
	nobody, err := sdk.New(control.Config(t), sdk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nobody.Apply(t.Context(), unasked); err != nil {
		t.Error(err)
	}
	server.Stop()
	if _, err := client.Apply(t.Context(), unanswered); err != nil || len(warned) != 1 || !strings.Contains(warned[0], "is applied as it was planned") {
		t.Errorf("%q, %v", warned, err)
	}
	// A local folder is loaded as by sdk.LoadChart.
	dir := t.TempDir()
	clustertest.WriteFiles(t, dir, map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n"})
	if local, err := sources.LoadChart(t.Context(), dir, sdk.ChartOptions{}); err != nil || local.Name() != "web" {
		t.Errorf("%v", err)
	}
	if _, err := sources.LoadChart(t.Context(), dir+string(os.PathSeparator)+"gone", sdk.ChartOptions{}); err == nil {
		t.Error("what is not there was loaded")
	}
}
