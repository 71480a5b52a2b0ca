package apply_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// writing is a cluster that calls a function before each object is created or patched; its error is that of the write.
type writing struct {
	*clusterfake.Cluster
	call func(kind string) error
}

func (c writing) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if err := c.call(u.GetKind()); err != nil {
		return nil, err
	}
	return c.Cluster.Create(ctx, u, o)
}

func (c writing) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if err := c.call(ref.Kind); err != nil {
		return nil, err
	}
	return c.Cluster.Patch(ctx, ref, p, o)
}

// With RecordHooks the pending record says that a hook runs before it is created, and how it ended before anything
// else is written; without, only the last record says it. A hook of a run that is left to be resumed has not failed.
func TestTheRecordSaysHowFarItsHooksAre(t *testing.T) {
	const running, succeeded = release.PhaseRunning, release.PhaseSucceeded
	for name, test := range map[string]struct {
		keep, leave bool
		during      []release.Phase
		end         release.Phase
	}{
		"recorded":     {keep: true, during: []release.Phase{running, succeeded}, end: succeeded},
		"not recorded": {during: []release.Phase{"", ""}, end: succeeded},
		"left":         {keep: true, leave: true, during: []release.Phase{running}, end: running},
	} {
		t.Run(name, func(t *testing.T) {
			w, seen := installed(t), []release.Phase(nil)
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			p, env := plannedWith(t, w, plan.Upgrade, revision(2, after), plan.Options{RecordHooks: test.keep}), w.Env()
			last := func() release.Execution { return w.Records[2].Hooks[0].LastRun }
			env.Cluster = writing{w, func(kind string) error {
				if kind == "Job" || kind == "ConfigMap" {
					seen = append(seen, last().Phase)
				}
				if test.leave {
					leave(apply.ErrLeave)
				}
				return ctx.Err()
			}}
			if _, err := apply.Run(ctx, p, env); errors.Is(err, apply.ErrLeave) != test.leave || err != nil && !test.leave {
				t.Fatal(err)
			}
			if !slices.Equal(seen, test.during) || last().Phase != test.end || (test.end != running) == last().CompletedAt.IsZero() {
				t.Errorf("the record said %q, and in the end %+v", seen, last())
			}
		})
	}
}
