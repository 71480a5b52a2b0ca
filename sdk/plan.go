package sdk

import (
	"cmp"
	"crypto/rand"
	"io"
	"slices"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Plan is everything that one operation will do, in the order in which it will do it.
type Plan struct {
	plan     *plan.Plan
	lockWait time.Duration
	// made is when it was planned.
	made time.Time
	// saved is what the plan was decoded from, nil for one that was not.
	saved []byte
}

// Object names an object of the cluster.
type Object struct {
	Group     string
	Kind      string
	Namespace string
	Name      string
}

// String returns "Kind/name".
func (o Object) String() string { return o.Kind + "/" + o.Name }

func object(id manifest.ID) Object {
	return Object{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// Step is one thing that Apply does.
type Step struct {
	// ID is stable across plans of the same release.
	ID    string
	Stage string
	// Op is "create", "patch", "replace", "recreate", "delete", "keep", "adopt",
	// "run", "wait", "record" or "none", as in docs/plan-json.md.
	Op      string
	Object  Object
	Changes []Change
	// Why says in a sentence why this is done.
	Why string
	// Risk is the most serious of the step's risks: "data", "delete", "recreate", "scale-down" or
	// "stateful"; "" when there is none.
	Risk string
}

// Change is a field that changes.
type Change struct {
	// Path is a path such as "spec.template.spec.containers[web].image".
	Path string
	// From and To are nil where the field is absent. Sensitive values are not masked here: don't
	// show them.
	From, To  any
	Sensitive bool
	// Cause is "chart", "values", "drift" and others, as in docs/plan-json.md.
	Cause string
}

// Problem is something that a reviewer must know.
type Problem struct {
	// Object is empty for a problem of the whole release.
	Object Object
	// Blocking forbids Apply.
	Blocking bool
	What     string
	// Do is advice, "" when there is none.
	Do string
}

// Summary counts steps.
type Summary = plan.Summary

// Operation returns "install", "upgrade", "rollback", "uninstall" or "test"; for a plan decoded from a
// file, also "correct drift" or "correct records".
func (p *Plan) Operation() string { return string(p.plan.Operation) }

// Release returns the release that the plan is for.
func (p *Plan) Release() Release {
	return Release{Namespace: p.plan.Release.Namespace, Name: p.plan.Release.Name}
}

// Revisions returns the newest stored revision (0: none) and the one that Apply writes;
// they are equal when it writes no new one.
func (p *Plan) Revisions() (from, to int) { return p.plan.FromRevision, p.plan.ToRevision }

// Summary returns the counts of the plan's steps.
func (p *Plan) Summary() Summary { return p.plan.Summary }

// Changes reports whether Apply would change objects or the release's record. Hooks may
// run even when it is false.
func (p *Plan) Changes() bool { return p.plan.Effect() != plan.EffectNone }

// Blocked reports whether a problem forbids Apply.
func (p *Plan) Blocked() bool { return p.plan.Blocked() }

// Problems returns what a reviewer must know before applying the plan. Secrets are masked.
func (p *Plan) Problems() []Problem {
	problems := make([]Problem, 0, len(p.plan.Problems))
	for _, problem := range redact.NewMask(p.plan).Problems(p.plan.Problems) {
		problems = append(problems, Problem{
			Object: object(problem.Object), Blocking: problem.Blocking, What: problem.What, Do: problem.Do,
		})
	}
	return problems
}

// Steps returns the plan's steps in order, including those that do nothing.
func (p *Plan) Steps() []Step {
	var steps []Step
	p.plan.Steps(func(stage plan.StageName, s *plan.Step) {
		step := Step{ID: s.ID, Stage: string(stage), Op: string(s.Op), Object: object(s.Object), Why: s.Why, Risk: string(s.Risk)}
		for _, c := range s.Changes {
			step.Changes = append(step.Changes, Change{Path: c.Path, From: c.From, To: c.To, Sensitive: c.Sensitive, Cause: string(c.Cause)})
		}
		steps = append(steps, step)
	})
	return steps
}

// Text writes the plan for people, as kubectl release plan does, 120 columns wide.
// Secrets are masked, as in the other formats.
func (p *Plan) Text(w io.Writer) error {
	return report.Text(w, &redact.Plan(p.plan).Document, report.TextOptions{})
}

// Markdown writes the plan as Markdown of at most 65,000 bytes, for a comment on a pull request.
func (p *Plan) Markdown(w io.Writer) error {
	return report.Markdown(w, &redact.Plan(p.plan).Document, report.MarkdownOptions{})
}

// HTML writes the plan as an HTML page.
func (p *Plan) HTML(w io.Writer) error { return report.HTML(w, &redact.Plan(p.plan).Document) }

// JSON writes the plan as described by docs/plan-json.md, with its effect digest.
func (p *Plan) JSON(w io.Writer) error {
	shown := redact.Plan(p.plan)
	if shown.EffectDigest == "" {
		var err error
		if shown, _, err = shown.Stamped(plan.Stamp{EffectDigest: p.EffectDigest()}); err != nil {
			return err
		}
	}
	return report.JSON(w, &shown.Document)
}

// EffectDigest returns "sha256:" and a digest, in hex, of what the plan does, without the values of
// secrets: a plan that does the same has the same, whenever it is made (docs/plan-json.md). It is that
// which a decoded plan was saved with.
func (p *Plan) EffectDigest() string {
	return cmp.Or(p.plan.EffectDigest, redact.EffectDigest(p.plan, nil))
}

// Encode returns the plan as a file for Apply or for kubectl release apply, with its effect digest, the
// time when it was planned, and a random number, so that a digest of the file reveals nothing. It holds the release's
// secrets. A decoded plan is returned as it was saved.
func (p *Plan) Encode() ([]byte, error) {
	if p.saved != nil {
		return slices.Clone(p.saved), nil
	}
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails: it ends the program instead
	_, data, err := p.plan.Stamped(plan.Stamp{EffectDigest: p.EffectDigest(), Origin: &plan.Origin{Created: p.made.UTC().Truncate(time.Second)}, Nonce: nonce})
	return data, err
}

// Decode reads a plan that Encode or kubectl release plan --out has written. Errors: data
// is not a plan, is damaged, or has another major format version. [Run.LockTimeout] is not in it: Apply does
// not wait for a lock.
func Decode(data []byte) (*Plan, error) {
	decoded, err := plan.Decode(data)
	if err != nil {
		return nil, err
	}
	return &Plan{plan: decoded, saved: slices.Clone(data)}, nil
}
