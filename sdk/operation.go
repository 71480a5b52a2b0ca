package sdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Operation is an [Install], [Upgrade], [Rollback], [Uninstall] or [Test].
type Operation interface {
	plan(ctx context.Context, e *engine.Engine) (*plan.Plan, error)
	check() error
	lock() time.Duration
}

// Plan plans an operation against the cluster and writes nothing to it; dry runs change nothing. A
// plan that can't be applied is not an error: see [Plan.Blocked].
//
// Errors: *[NoReleaseError], *[NoRevisionError], *[ExistsError], those of rendering and of the API server, and one
// for options, values or a release's name that can't be used.
func (c *Client) Plan(ctx context.Context, o Operation) (*Plan, error) {
	if o == nil {
		return nil, errors.New("an operation is required")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	made, err := o.plan(ctx, c.run())
	if err != nil {
		return nil, err
	}
	return &Plan{plan: made, lockWait: o.lock(), made: c.engine.Now()}, nil
}

// Run are the options that every operation has. The zero value is usable.
type Run struct {
	// Wait waits until everything is ready; hooks are always waited for.
	Wait bool
	// WaitForJobs waits for Jobs to end, too.
	WaitForJobs bool
	// Timeout limits each wait and each hook; 0 is five minutes.
	Timeout time.Duration
	// OverallTimeout limits the whole run, except for the rollback after a failure; 0 is no limit.
	OverallTimeout time.Duration
	// LockTimeout is how long to wait while another run holds the release's lock; 0
	// does not wait.
	LockTimeout time.Duration
	// NoHooks skips all hooks.
	NoHooks bool
	// HistoryMax is how many revisions stay stored; 0 is Helm's 10, -1 keeps all.
	HistoryMax int
	// Description is stored in the record instead of the default.
	Description string
	// FieldManager owns the fields that are written; "" is Helm's, "helm", so that a release can
	// move between programs.
	FieldManager string
	// TakeOwnership adopts objects that do not belong to the release.
	TakeOwnership bool
	// ForceConflicts takes over fields of other field managers under server-side apply.
	ForceConflicts bool
	// Deny blocks a plan with one of these risks: "data", "delete", "recreate", "scale-down",
	// "stateful".
	Deny []string
	// Sensitive are patterns of fields that [Plan.Text] and the other formats mask in addition to
	// those of Secrets, as in docs/secrets.md.
	Sensitive []string
}

func (r Run) lock() time.Duration { return r.LockTimeout }

func (r Run) options() (plan.Options, error) {
	for _, pattern := range r.Sensitive {
		if err := redact.CheckPattern(pattern); err != nil {
			return plan.Options{}, fmt.Errorf("sensitive: %w", err)
		}
	}
	policy := plan.Policy{}
	if len(r.Deny) > 0 {
		var err error
		if policy, err = plan.DenyRisks(r.Deny...); err != nil {
			return plan.Options{}, err
		}
	}
	o := plan.Options{
		Wait: r.Wait, WaitForJobs: r.WaitForJobs, Timeout: r.Timeout, OverallTimeout: r.OverallTimeout,
		NoHooks: r.NoHooks, HistoryMax: r.HistoryMax, Description: r.Description, FieldManager: r.FieldManager,
		TakeOwnership: r.TakeOwnership, ForceConflicts: r.ForceConflicts, Policy: policy, Sensitive: r.Sensitive,
	}
	if o.Timeout == 0 {
		o.Timeout = plan.DefaultTimeout
	}
	switch {
	case o.HistoryMax == 0:
		o.HistoryMax = 10
	case o.HistoryMax < 0:
		o.HistoryMax = 0
	}
	o.FieldManager = cmp.Or(o.FieldManager, plan.FieldManager)
	return o, nil
}

// Reuse says which earlier values an upgrade keeps.
type Reuse string

const (
	// ReuseUnlessGiven keeps the last revision's values when none are given, as Helm does.
	ReuseUnlessGiven Reuse = ""
	// ReuseValues keeps the last revision's values and defaults.
	ReuseValues Reuse = "reuse"
	// ResetValues forgets the last revision's values.
	ResetValues Reuse = "reset"
	// ResetThenReuseValues takes the new defaults, then the last revision's values.
	ResetThenReuseValues Reuse = "reset-then-reuse"
)

func (r Reuse) mode() (values.Reuse, error) {
	switch r {
	case ReuseUnlessGiven:
		return values.ReuseUnlessGiven, nil
	case ReuseValues:
		return values.ReuseValues, nil
	case ResetValues:
		return values.ResetValues, nil
	case ResetThenReuseValues:
		return values.ResetThenReuseValues, nil
	}
	return 0, fmt.Errorf("unknown reuse of values: %q", string(r))
}

// Install installs a release that does not exist yet.
type Install struct {
	Release
	Run
	Chart *Chart
	// Values are what JSON can represent; Plan does not change them.
	Values map[string]any
	// Atomic uninstalls what a failed install has left behind.
	Atomic bool
	// CreateNamespace creates the release's namespace when it is missing.
	CreateNamespace bool
	SkipCRDs        bool
	Labels          map[string]string
}

func (i Install) plan(ctx context.Context, e *engine.Engine) (*plan.Plan, error) {
	u := Upgrade{
		Release: i.Release, Run: i.Run, Chart: i.Chart, Values: i.Values, Reuse: ResetValues,
		Atomic: i.Atomic, CreateNamespace: i.CreateNamespace, SkipCRDs: i.SkipCRDs, Labels: i.Labels,
	}
	return u.deploy(ctx, e, engine.InstallOnly)
}

// Upgrade upgrades a release.
type Upgrade struct {
	Release
	Run
	Chart *Chart
	// Values are what JSON can represent; Plan does not change them.
	Values map[string]any
	Reuse  Reuse
	// Install installs the release if it does not exist.
	Install bool
	// Atomic rolls back on failure; without a successful revision only an install is undone, and
	// an upgrade fails with [ErrNoWayBack]. It waits, whatever Wait says.
	Atomic bool
	// CleanupOnFail deletes what a failed upgrade has created.
	CleanupOnFail   bool
	CreateNamespace bool
	SkipCRDs        bool
	// UpdateCRDs also updates existing CRDs to those in crds/.
	UpdateCRDs bool
	Labels     map[string]string
}

func (u Upgrade) plan(ctx context.Context, e *engine.Engine) (*plan.Plan, error) {
	if u.Install {
		return u.deploy(ctx, e, engine.InstallOrUpgrade)
	}
	return u.deploy(ctx, e, engine.UpgradeOnly)
}

func (u Upgrade) deploy(ctx context.Context, e *engine.Engine, mode engine.Mode) (*plan.Plan, error) {
	o, err := u.options()
	if err != nil {
		return nil, err
	}
	reuse, err := u.Reuse.mode()
	if err != nil {
		return nil, err
	}
	o.Atomic, o.CleanupOnFail, o.CreateNamespace = u.Atomic, u.CleanupOnFail, u.CreateNamespace
	o.SkipCRDs, o.UpdateCRDs, o.Labels = u.SkipCRDs, u.UpdateCRDs, u.Labels
	o.Wait = o.Wait || u.Atomic
	source, err := u.Chart.source(u.Values)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", u.Release, err)
	}
	source.Reuse = reuse
	return e.PlanDeployment(ctx, engine.Deployment{
		Release: u.key(), Mode: mode, Source: source, ServerSide: engine.ServerSideAuto, Options: o,
	})
}

// Rollback returns to an earlier revision.
type Rollback struct {
	Release
	Run
	// To is the revision; 0 is the last successful one before the newest.
	To int
}

func (r Rollback) plan(ctx context.Context, e *engine.Engine) (*plan.Plan, error) {
	o, err := r.options()
	if err != nil {
		return nil, err
	}
	return e.PlanRollback(ctx, r.key(), engine.Rollback{To: r.To, ServerSide: engine.ServerSideAuto, Options: o})
}

// Uninstall removes a release.
type Uninstall struct {
	Release
	Run
	// KeepHistory keeps the records.
	KeepHistory bool
}

func (u Uninstall) plan(ctx context.Context, e *engine.Engine) (*plan.Plan, error) {
	o, err := u.options()
	if err != nil {
		return nil, err
	}
	o.KeepHistory = u.KeepHistory
	return e.PlanUninstall(ctx, u.key(), engine.Uninstall{Options: o})
}

// Test runs the test hooks of a release.
type Test struct {
	Release
	Run
	// Only and Skip are names of tests.
	Only, Skip []string
}

func (t Test) plan(ctx context.Context, e *engine.Engine) (*plan.Plan, error) {
	o, err := t.options()
	if err != nil {
		return nil, err
	}
	o.OnlyTests, o.SkipTests = t.Only, t.Skip
	return e.PlanTest(ctx, t.key(), o)
}
