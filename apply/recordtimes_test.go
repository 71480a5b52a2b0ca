package apply_test

import (
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A record says when the release was first deployed, when its revision was, and when it was uninstalled.
func TestARecordHasItsTimes(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }
	w := clusterfake.New()
	on := func(n int, p *plan.Plan) {
		t.Helper()
		env := w.Env()
		env.Now = func() time.Time { return day(n) }
		if _, err := apply.Run(t.Context(), p, env); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(version int, first, last, deleted time.Time) {
		t.Helper()
		if i := w.Records[version].Info; !i.FirstDeployed.Equal(first) || !i.LastDeployed.Equal(last) || !i.Deleted.Equal(deleted) {
			t.Errorf("revision %d: first deployed %s, last %s, deleted %s", version, i.FirstDeployed, i.LastDeployed, i.Deleted)
		}
	}
	never := time.Time{}
	on(1, planned(t, w, plan.Install, revision(1, before)))
	expect(1, day(1), day(1), never)

	next := revision(2, after)
	next.Info.FirstDeployed = w.Records[1].Info.FirstDeployed
	on(2, planned(t, w, plan.Upgrade, next))
	expect(1, day(1), day(1), never)
	expect(2, day(1), day(2), never)

	on(3, plannedWith(t, w, plan.Uninstall, nil, plan.Options{KeepHistory: true}))
	expect(2, day(1), day(2), day(3))
}
