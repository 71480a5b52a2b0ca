package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// masked is a plan as it may be printed.
func (p *program) masked(made *plan.Plan) *plan.Plan {
	if p.showSecrets {
		return made
	}
	return p.maskOf(made).Plan(made)
}

// shownProblems are the plan's problems as they may be printed.
func (p *program) shownProblems(made *plan.Plan) []plan.Problem {
	if p.showSecrets {
		return made.Problems
	}
	return p.maskOf(made).Problems(made.Problems)
}

// maskOf hides the plan's secrets. It is made once for a plan: all that this holds is looked at.
func (p *program) maskOf(made *plan.Plan) *redact.Mask {
	if p.lastMasked != made {
		p.lastMasked, p.lastMask = made, redact.NewMask(made)
	}
	return p.lastMask
}

// sameMask has a plan that holds the same as another one masked as that is.
func (p *program) sameMask(as, made *plan.Plan) { p.lastMask, p.lastMasked = p.maskOf(as), made }

// hide masks the plan's secrets in all that is printed from now on.
func (p *program) hide(made *plan.Plan) {
	if !p.showSecrets {
		p.hidden = made
		p.mask.Store(p.maskOf(made))
	}
}

// hideMore masks the secrets of a way back, too.
func (p *program) hideMore(back *plan.Plan) {
	if p.hidden != nil {
		p.mask.Store(redact.NewMask(p.hidden, back))
	}
}

// hideValues does the same before there is a plan: a chart that refuses its
// values may quote them.
func (p *program) hideValues(values map[string]any) {
	if !p.showSecrets && p.mask.Load() == nil {
		p.mask.Store(redact.NewValuesMask(values))
	}
}

// hideRead sees to it that what templates have read from Secrets is masked: in
// the plan, which keeps what it has of that, or in the error that may quote it.
func (p *program) hideRead(values map[string]any, made *plan.Plan, err error) (*plan.Plan, error) {
	var quoting *engine.RenderError
	if errors.As(err, &quoting) && p.mask.Load() != nil { // else --show-secrets
		p.mask.Store(redact.NewValuesMask(values, quoting.Secrets...))
	}
	if made != nil {
		made = made.WithSecrets(redact.Recurring(made))
	}
	return made, err
}

// record prints the revision that a run has stored, in a format for machines.
func (p *program) record(format string, r *release.Revision) error {
	tree, err := recordTree(r)
	if err != nil {
		return err
	}
	return p.structured(format, p.mask.Load().Tree(tree))
}

// recordTree is a revision as its JSON decodes to.
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

// logWriter takes the client library's log. Bodies of requests and answers hold
// Secrets and whole releases, in encodings that no mask sees through, so they
// are left out unless secrets are to be shown.
type logWriter struct {
	to   io.Writer
	mask *atomic.Pointer[redact.Mask]
	open bool
}

func (w logWriter) Write(entry []byte) (int, error) {
	out := entry
	if bytes.Contains(out, []byte("] \"Feature gate default state\" ")) {
		return len(entry), nil // a dozen lines before the first request, and nobody's question
	}
	if !w.open {
		for _, body := range []string{`"Request Body"`, `"Response Body"`} {
			if i := bytes.Index(out, []byte(body)); i >= 0 {
				out = append(bytes.Clone(out[:i+len(body)]), " left out (--show-secrets)\n"...)
			}
		}
		out = []byte(w.mask.Load().Text(string(out)))
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(entry), nil
}
