package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Only what is wrong with the baseline's own chart and values can be mended by a change. Whatever else fails
// while it is rendered says nothing about it.
func TestOnlyTheChartsOwnFaultsMakeABaselineBroken(t *testing.T) {
	const looking = `{"a": {{ lookup "v1" "Secret" "web" "s" | toJson | quote }}}`
	down := func(string, string, string, string) (map[string]any, error) { return nil, errors.New("server is down") }
	exits := func(ctx context.Context, _ string) (string, error) {
		return "", exec.CommandContext(ctx, "false").Run()
	}
	refuses := func(context.Context, string) (string, error) { return "", errors.New("no object for the patch") }
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name, text string
		lookup     templating.LookupFunc
		render     RenderOptions
		fails      string
		ctx        context.Context
	}{
		{"template", `{{ fail "broken" }}`, nil, RenderOptions{}, "", t.Context()},
		{"patch of a HelmRelease", `a`, nil, RenderOptions{PostRender: refuses}, "", t.Context()},
		{"lookup", looking, down, RenderOptions{}, "server is down", t.Context()},
		{"post-renderer", `a`, nil, RenderOptions{PostRender: exits}, "exit status 1", t.Context()},
		{"stop", `{{ fail "broken" }}`, nil, RenderOptions{}, "render the chart base: ", stopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := Baseline{Against: plan.Against{Kind: plan.AgainstChart, Name: "base"}, Source: telling("", c.text)}
			b.Source.Reuse, b.Source.Render = values.ResetValues, c.render
			d := Deployment{Release: webKey, Source: telling("", `a`)}
			p, err := PlanOffline(c.ctx, Offline{Capabilities: templating.DefaultCapabilities(), Lookup: c.lookup}, "", d, b)
			switch {
			case c.fails == "" && (err != nil || !strings.Contains(fmt.Sprint(p.Problems), "base can't be rendered")):
				t.Errorf("%v: %v", p, err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("%v, want %s", err, c.fails)
			}
		})
	}
}
