package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// job is the manifest of a hook with a delete policy.
func job(name, event, policy string) string {
	return fmt.Sprintf(`---
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: shop, annotations: {helm.sh/hook: %q, helm.sh/hook-delete-policy: %q}}
`, name, event, policy)
}

// hooksOnly plans an upgrade that consists only of hooks.
func hooksOnly(t *testing.T, w *clusterfake.Cluster, text string) *plan.Plan {
	t.Helper()
	classified, err := manifest.Classify([]manifest.File{{Path: "web/templates/hooks.yaml", Content: text}})
	if err != nil {
		t.Fatal(err)
	}
	history := clusterfake.Store{Cluster: w}.History()
	target := &plan.Target{Record: revision(history.Last().Version+1, "")}
	for _, h := range classified.Hooks {
		objects, err := manifest.ParseDocument(h.Manifest, h.Path)
		if err != nil {
			t.Fatal(err)
		}
		target.Record.Hooks = append(target.Record.Hooks, release.Hook{Hook: h})
		target.HookObjects = append(target.HookObjects, objects)
	}
	p, _, err := plan.Build(plan.Input{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, History: history,
		Live: map[manifest.ID]plan.Observation{}, Predictions: map[string]plan.Prediction{}, Target: target,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failing is a cluster in which one Job and one deletion fail.
type failing struct {
	*clusterfake.Cluster
	job, deletion string
}

func (f failing) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetName() == f.job {
		return (clusterfake.FailingJobs{Cluster: f.Cluster}).Create(ctx, u, o)
	}
	return f.Cluster.Create(ctx, u, o)
}

func (f failing) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	if ref.Name == f.deletion {
		return f.Write("fail to delete "+ref.String(), forbidden)
	}
	return f.Cluster.Delete(ctx, ref, o)
}

// The deletions that delete policies demand come at the end of the stage, last hook first,
// even if a hook or a deletion has failed; in that case nothing else follows.
func TestHooksAreDeletedAsPlanned(t *testing.T) {
	hooks := job("a", "pre-upgrade", "hook-succeeded,hook-failed") + job("b", "pre-upgrade,post-upgrade", "before-hook-creation,hook-failed") +
		job("c", "pre-upgrade", "hook-succeeded") + job("d", "post-upgrade", "hook-failed")
	for name, test := range map[string]struct {
		job, deletion string
		want          string
	}{
		"all is well":                  {"", "", "a b c -c -a -b b d deployed"},
		"the first one fails":          {"a", "", "a -a failed"},
		"the second fails":             {"b", "", "a b -b -a failed"},
		"the third fails":              {"c", "", "a b c -a failed"},
		"the last one fails":           {"d", "", "a b c -c -a -b b d -d failed"},
		"a deletion fails":             {"", "c", "a b c !c -a failed"},
		"a hook and its deletion fail": {"b", "b", "a b !b -a failed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			p := hooksOnly(t, w, hooks)
			if p.Blocked() {
				t.Fatalf("blocked: %+v", p.Problems)
			}
			env := w.Env()
			env.Cluster = failing{Cluster: w, job: test.job, deletion: test.deletion}
			if _, err := apply.Run(t.Context(), p, env); (err == nil) != strings.HasSuffix(test.want, "deployed") {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff("pending-upgrade "+test.want, brief(w.Log)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// brief abbreviates a log of writes: "a -b deployed" for a Job that is created,
// another that is deleted, and the new status of the revision.
func brief(log []string) string {
	var words []string
	for _, line := range log {
		switch name := line[strings.LastIndex(line, "/")+1:]; {
		case strings.HasPrefix(line, "create "):
			words = append(words, name)
		case strings.HasPrefix(line, "delete "):
			words = append(words, "-"+name)
		case strings.HasPrefix(line, "fail to delete "):
			words = append(words, "!"+name)
		case strings.HasPrefix(line, "record 2 "):
			words = append(words, strings.TrimPrefix(line, "record 2 "))
		}
	}
	return strings.Join(words, " ")
}

// A run that is stopped while a hook runs deletes the hook according to its policy; one that has
// lost its lock leaves that to the next holder, and one that is to be resumed leaves the hook running.
func TestAStoppedRunTidiesItsHooks(t *testing.T) {
	for name, test := range map[string]struct {
		holds bool
		cause error
		want  string
	}{
		"stopped":          {true, nil, "pending-upgrade a -a failed"},
		"without its lock": {false, nil, "pending-upgrade a"},
		"to be resumed":    {true, apply.ErrLeave, "pending-upgrade a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			p := hooksOnly(t, w, job("a", "pre-upgrade", "hook-failed")+job("b", "pre-upgrade", "hook-failed"))
			ctx, cancel := context.WithCancelCause(t.Context())
			env := w.Env()
			env.Cluster = stuck{w, "hook"}
			env.Lock = lockUntil{check: func() error {
				if !test.holds && w.Calls == 2 {
					return errLost
				}
				return nil
			}}
			w.Trouble = func(call int) clusterfake.Trouble {
				if call == 2 { // the hook is created
					cancel(test.cause)
				}
				return clusterfake.Trouble{}
			}
			if _, err := apply.Run(ctx, p, env); err == nil {
				t.Error("it went through")
			}
			if diff := cmp.Diff(test.want, brief(w.Log)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}
