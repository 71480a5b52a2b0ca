package reconcile

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/plan"
)

// test runs the tests of the newest revision.
func (p *pass) test(ctx context.Context, _ decision.Decision) error {
	o := testingOptions(p.hr)
	outcome, err := p.apply(ctx, func(ctx context.Context) (*plan.Plan, error) { return p.engine.PlanTest(ctx, p.key(), o) })
	if left(err) || locked(err) {
		return err
	}
	defer p.summarize()
	cur := p.hr.Status.Snapshots()[0]
	if r := outcome.Revision; r != nil && isOf(cur, r) && !apply.Passes(err) {
		next, observed := snapshot(r, cur.Action, cur.OCIDigest)
		if observed != nil {
			return observed
		}
		next.TestHooks = testHooks(r, p.hr.Tests())
		if err == nil || ran(next.TestHooks) {
			cur = next
			p.hr.Status.History[0] = next
		}
	}
	about := fmt.Sprintf("for release %s with chart %s: ", full(cur), versionedChart(cur))
	if err == nil {
		message := "Helm test succeeded " + about + completed(len(cur.TestHooks))
		p.mark(tested, metav1.ConditionTrue, "TestSucceeded", message)
		p.tellOf(cur, false, "TestSucceeded", message)
		return nil
	}
	p.hr.Status.Failures++
	message := "Helm test failed " + about + err.Error()
	p.mark(tested, metav1.ConditionFalse, "TestFailed", message)
	p.tellOf(cur, true, "TestFailed", message)
	if apply.Passes(err) || !ran(cur.TestHooks) {
		return err
	}
	if remedy, active := p.hr.ActiveRemedy(); active && !remedy.IgnoreTests {
		p.count()
	}
	return nil
}

// count adds a failure to those of the last attempt.
func (p *pass) count() {
	switch p.hr.Status.LastAttemptedReleaseAction {
	case flux.AttemptInstall:
		p.hr.Status.InstallFailures++
	case flux.AttemptUpgrade:
		p.hr.Status.UpgradeFailures++
	}
}

// ran reports whether a test has begun.
func ran(hooks map[string]*flux.TestHook) bool {
	for _, h := range hooks {
		if !h.LastStarted.IsZero() {
			return true
		}
	}
	return false
}

// completed says how many tests were run, in helm-controller's words.
func completed(n int) string {
	switch n {
	case 0:
		return "no test hooks"
	case 1:
		return "1 test hook completed successfully"
	}
	return fmt.Sprintf("%d test hooks completed successfully", n)
}
