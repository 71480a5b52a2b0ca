package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// secrecy is what output must not show, unless --show-secrets is given.
type secrecy struct {
	// mask hides it in all output other than a plan, from the moment it is known.
	mask atomic.Pointer[redact.Mask]
	// quotable are the tables of values, quoted the secrets that mask hides until there is a plan.
	quotable []any
	quoted   [][]byte
	// public are the names of charts, which are no secret even if a password equals one.
	public []string
	// hidden is the plan whose secrets mask hides, nil until there is one.
	hidden *plan.Plan
	// lastMask is the mask of lastMasked; see maskOf.
	lastMask   *redact.Mask
	lastMasked *plan.Plan
}

// masked returns the plan as it may be printed.
func (p *program) masked(made *plan.Plan) *plan.Plan {
	if p.showSecrets {
		return made
	}
	return p.maskOf(made).Plan(made)
}

// shownProblems returns the plan's problems as they may be printed.
func (p *program) shownProblems(made *plan.Plan) []plan.Problem {
	if p.showSecrets {
		return made.Problems
	}
	return p.maskOf(made).Problems(made.Problems)
}

// maskOf returns the mask that hides the plan's secrets. It is cached for the last plan, because
// building it reads the whole plan.
func (p *program) maskOf(made *plan.Plan) *redact.Mask {
	if p.lastMasked != made {
		p.lastMasked, p.lastMask = made, redact.NewMask(made)
	}
	return p.lastMask
}

// sameMask uses the mask of one plan for another plan with the same content.
func (p *program) sameMask(as, made *plan.Plan) { p.lastMask, p.lastMasked = p.maskOf(as), made }

// hide masks the plan's secrets in all output from now on.
func (p *program) hide(made *plan.Plan) {
	if !p.showSecrets {
		p.hidden = made
		p.mask.Store(p.maskOf(made))
	}
}

// hideMore masks the secrets of a rollback's plan, too.
func (p *program) hideMore(back *plan.Plan) {
	if p.hidden != nil {
		p.mask.Store(redact.NewMask(p.hidden, back))
	}
}

// hideValues masks values before a plan exists, along with what was masked before: a chart that
// refuses its values may quote them.
func (p *program) hideValues(from engine.Source) {
	p.quotable, p.public = append(p.quotable, from.AllValues()...), append(p.public, from.ChartNames()...)
	p.hideQuoted()
}

// hideSecrets masks secrets before a plan exists, along with what was masked before.
func (p *program) hideSecrets(secrets [][]byte) {
	more := slices.DeleteFunc(slices.Clone(secrets), func(secret []byte) bool {
		return slices.ContainsFunc(p.quoted, func(known []byte) bool { return bytes.Equal(known, secret) })
	})
	if len(more) > 0 {
		p.quoted = append(p.quoted, more...)
		p.hideQuoted()
	}
}

func (p *program) hideQuoted() {
	if !p.showSecrets && p.hidden == nil {
		p.mask.Store(redact.NewValuesMask(p.quotable, p.public, p.quoted...))
	}
}

// errorText returns the text of an error without the secrets that it quotes.
func (p *program) errorText(err error) string { return p.errorMask().Text(err.Error()) }

// errorMask returns the mask for errors and warnings. Before any values are known, it hides passwords
// in URLs.
func (p *program) errorMask() *redact.Mask {
	if mask := p.mask.Load(); mask != nil || p.showSecrets {
		return mask
	}
	return redact.NewValuesMask(nil, nil)
}

// hideRead masks what templates have read from Secrets, in the plan that contains it, and what an error
// may quote of Secrets.
func (p *program) hideRead(made *plan.Plan, err error) (*plan.Plan, error) {
	if values, secrets := engine.Quoted(err); len(values)+len(secrets) > 0 && !p.showSecrets {
		p.mask.Store(redact.NewValuesMask(slices.Concat(p.quotable, values), p.public, slices.Concat(p.quoted, secrets)...))
	}
	if made != nil {
		made = made.WithSecrets(redact.Recurring(made))
	}
	return made, err
}

// record prints the revision that a run has stored, as JSON or YAML.
func (p *program) record(format string, r *release.Revision) error {
	tree, err := recordTree(r)
	if err != nil {
		return err
	}
	return p.structured(format, p.mask.Load().Tree(tree))
}

// recordTree returns a revision as decoded JSON.
func recordTree(r *release.Revision) (any, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("print %s: %w", r, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("print %s: %w", r, err)
	}
	return tree, nil
}

// logWriter receives client-go's log. Bodies of requests and responses contain Secrets and whole
// releases in encodings that no mask recognizes, so they are omitted unless secrets are to be
// shown.
type logWriter struct {
	to   io.Writer
	mask func() *redact.Mask
	open bool
}

func (w logWriter) Write(entry []byte) (int, error) {
	out := entry
	if bytes.Contains(out, []byte("] \"Feature gate default state\" ")) {
		return len(entry), nil // a dozen lines before the first request (client-go, features/envvar.go) that help nobody
	}
	if !w.open {
		for _, body := range []string{`"Request Body"`, `"Response Body"`} {
			if i := bytes.Index(out, []byte(body)); i >= 0 {
				out = append(bytes.Clone(out[:i+len(body)]), " left out (--show-secrets)\n"...)
			}
		}
		out = []byte(w.mask().Text(string(out)))
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(entry), nil
}
