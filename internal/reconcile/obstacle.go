package reconcile

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/redact"
)

// dependencyInterval is helm-controller's --requeue-dependency.
const dependencyInterval = 30 * time.Second

func (r *Reconciler) dependencyInterval() time.Duration {
	if r.DependencyInterval > 0 {
		return r.DependencyInterval
	}
	return dependencyInterval
}

// Terminal begins the message about what no retry can fix. InvalidSpec is the reason if that is a
// HelmRelease that can't be decoded.
const (
	Terminal    = "Reconciliation failed terminally due to configuration error: "
	InvalidSpec = "InvalidSpec"
)

// obstacle ends a pass that did not get as far as the release.
func (p *pass) obstacle(d decision.Decision) error {
	text := p.masked(p.why(d))
	message, tell := text, true
	switch d.Reason {
	case decision.ReasonInvalidExpression:
		message = Terminal + text
	case decision.ReasonArtifactFailed:
		message, tell = p.artifact(text)
	case decision.ReasonSourceNotReady, decision.ReasonChartMutateError, decision.ReasonRESTClientError:
		tell = false
	}
	p.mark(ready, metav1.ConditionFalse, d.Reason, message)
	if tell {
		p.tell(Event{Warning: d.Reason != decision.ReasonDependencyNotReady, Reason: d.Reason, Message: text})
	}
	gone := errors.Is(p.input.Obstacles.Chart, ErrArtifactGone)
	switch {
	case d.Action == decision.Stall:
		p.stall(d.Reason, message)
		p.observed = true
		if len(p.input.Cycle) > 0 { // another shard may end it
			p.after = p.hr.Spec.Interval.Duration
		}
		return nil
	case d.Action == decision.Wait, gone:
		p.after, p.fixed = p.r.dependencyInterval(), true
		return nil
	}
	return errors.New(text)
}

// artifact returns the message about a source that can't be read, or a chart that can't
// be loaded, and whether an event reports it.
func (p *pass) artifact(text string) (message string, tell bool) {
	switch err := p.input.Obstacles.Chart; {
	case err == nil:
		return "could not get Source object: " + text, false
	case errors.Is(err, ErrArtifactGone):
		return "Source not ready: artifact not found. Retrying in " + p.r.dependencyInterval().String(), false
	}
	return "Could not load chart: " + text, true
}

// why returns the reason in helm-controller's words.
func (p *pass) why(d decision.Decision) string {
	o := p.input.Obstacles
	if len(p.input.Cycle) > 0 {
		return d.Because[0]
	}
	if o.Expression == nil {
		for _, dep := range p.input.Dependencies {
			if text := dep.NotReady(); text != "" {
				return text
			}
		}
	}
	for _, err := range []error{o.Expression, o.Denied, o.NoSource} {
		if err != nil {
			return err.Error()
		}
	}
	if o.SourceNotReady != "" {
		return o.SourceNotReady
	}
	for _, err := range []error{o.Values, o.Chart, o.Version, o.Client} {
		if err != nil {
			return err.Error()
		}
	}
	return d.Because[0]
}

// masked returns a text without secrets.
func (p *pass) masked(text string) string {
	if p.mask != nil {
		text = p.mask.Text(text)
	}
	return redact.NewValuesMask(p.values, nil, p.secrets...).Text(text)
}

// tell adds an event.
func (p *pass) tell(e Event) {
	e.Message = bounded(e.Message)
	p.events = append(p.events, e)
}
