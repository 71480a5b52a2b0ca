package engine

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// However a failed run was undone, what was left is named.
func TestARolledBackErrorNamesWhatIsNotUndone(t *testing.T) {
	left := []plan.Lasting{{Object: manifest.ID{Kind: "Widget", Name: "w"}, What: "it stays"}}
	for want, e := range map[string]*RolledBackError{
		"no\nrolled back to revision 2 (as revision 4), except for\n  Widget/w: it stays":                                                {To: 2, Back: apply.Outcome{Revision: &release.Revision{Version: 4}}},
		"no\nthe release was uninstalled again, except for\n  Widget/w: it stays":                                                        {},
		"no\nthe release was uninstalled again, but not everything is gone yet:\n  ConfigMap/a: held\nnot undone:\n  Widget/w: it stays": {Back: apply.Outcome{Remaining: []string{"ConfigMap/a: held"}}},
	} {
		e.Cause, e.NotUndone = errors.New("no"), left
		if got := e.Error(); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
}

// withoutWidgets is a cluster that serves no Widgets and in which Jobs fail.
type withoutWidgets struct{ failingJobs }

func (w withoutWidgets) Kinds(ctx context.Context, asked []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	found, err := w.failingJobs.Kinds(ctx, asked)
	for _, gvk := range asked {
		if gvk.Kind == "Widget" {
			found[gvk.GroupKind()] = plan.Kind{}
		}
	}
	return found, err
}

// A hook of the restored revision that the cluster does not serve is left out, as the failed plan had said.
func TestARollbackSaysBeforehandWhichHooksItLeavesOut(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		old := dropping("old", false, "web")
		old.Source.Chart.Templates = append(old.Source.Chart.Templates, &chart.File{Name: "templates/hook.yaml", Data: []byte(
			"apiVersion: x.io/v1beta1\nkind: Widget\nmetadata: {name: w, annotations: {helm.sh/hook: pre-rollback}}\n")})
		if _, err := b.deploy(old, nothing); err != nil {
			t.Fatal(err)
		}
		b.Cluster = withoutWidgets{failingJobs{c}}
		_, err := b.deploy(dropping("new", true, "web"), nothing)
		var back *RolledBackError
		if !errors.As(err, &back) || back.Rollback != nil || len(back.NotUndone) != 1 || back.NotUndone[0].Object.Kind != "Widget" {
			t.Fatalf("error %v", err)
		}
	})
}
