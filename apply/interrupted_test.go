package apply_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// lingering is a cluster in which one object stays after its deletion, as a Job whose pod is on a dead node does.
type lingering struct {
	*clusterfake.Cluster
	name string
}

func (s lingering) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	if ref.Name == s.name {
		return s.Write("delete "+ref.String(), func() error { return nil })
	}
	return s.Cluster.Delete(ctx, ref, o)
}

// What the hooks of an interrupted run have left ends an upgrade if it can't be deleted or does not go away.
// An uninstall goes on, after a warning.
func TestLeftoversOfAnInterruptedRun(t *testing.T) {
	text := job("migrate", "pre-upgrade", "hook-succeeded") + job("other", "pre-upgrade", "hook-succeeded")
	classified, err := manifest.Classify([]manifest.File{{Path: "web/templates/hooks.yaml", Content: text}})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []plan.Operation{plan.Upgrade, plan.Uninstall} {
		for name, in := range map[string]func(*clusterfake.Cluster) apply.Cluster{
			"no permission": func(w *clusterfake.Cluster) apply.Cluster { return failing{Cluster: w, deletion: "migrate"} },
			"not gone":      func(w *clusterfake.Cluster) apply.Cluster { return lingering{w, "migrate"} },
		} {
			t.Run(string(op)+" "+name, func(t *testing.T) {
				w := installed(t)
				killed := revision(2, "").WithStatus(release.StatusPendingUpgrade, plan.PendingMark+": upgrade under way")
				input := plan.Input{
					Operation: op, Release: release.Key{Namespace: "shop", Name: "web"}, Live: map[manifest.ID]plan.Observation{},
					Predictions: map[string]plan.Prediction{}, Options: plan.Options{Timeout: 50 * time.Millisecond, TakeOver: true},
				}
				for _, h := range classified.Hooks {
					killed.Hooks = append(killed.Hooks, release.Hook{Hook: h})
					objects, err := manifest.ParseDocument(h.Manifest, h.Path)
					if err != nil {
						t.Fatal(err)
					}
					input.StoredHookObjects = append(input.StoredHookObjects, objects)
					input.Live[objects[0].ID] = plan.Observation{Object: w.Put(objecttest.Parse(t, h.Manifest))}
				}
				w.Records[2] = killed
				input.History = clusterfake.Store{Cluster: w}.History()
				if op == plan.Upgrade {
					input.Target = &plan.Target{Record: revision(3, "")}
				}
				p, _, err := plan.Build(input)
				if err != nil || p.Blocked() {
					t.Fatalf("error %v, problems %+v", err, p.Problems)
				}
				env, told := w.Env(), &recorder{}
				env.Cluster, env.Observer = in(w), told
				_, err = apply.Run(t.Context(), p, env)
				warned := strings.Contains(strings.Join(told.warnings, "\n"), "delete Job/migrate: ")
				if goesOn := op == plan.Uninstall; goesOn != (err == nil) || goesOn != warned {
					t.Errorf("error %v, warnings %q, writes %q", err, told.warnings, w.Log)
				}
				if err != nil && (!strings.HasPrefix(err.Error(), "delete Job/migrate: ") || strings.Contains(err.Error(), "hook")) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// recorder keeps the messages of warnings.
type recorder struct{ warnings []string }

func (r *recorder) Observe(e apply.Event) {
	if e.Type == apply.Warning {
		r.warnings = append(r.warnings, e.Message)
	}
}
