package reconcile

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Types of conditions, and reasons that are used in more than one place.
const (
	ready       = flux.ConditionReady
	reconciling = flux.ConditionReconciling
	stalled     = flux.ConditionStalled
	released    = "Released"
	tested      = "TestSuccess"
	remediated  = "Remediated"
	drifted     = "Drifted"

	progressing          = "Progressing"
	progressingWithRetry = "ProgressingWithRetry"
)

// mark sets a condition, with its message truncated if it is too long. Its time is that of the last change
// of its status, reason or message.
func (p *pass) mark(name string, status metav1.ConditionStatus, reason, message string) {
	next := metav1.Condition{
		Type: name, Status: status, Reason: reason, Message: bounded(message),
		ObservedGeneration: p.hr.Metadata.Generation, LastTransitionTime: metav1.NewTime(p.r.Now()).Rfc3339Copy(),
	}
	conditions := p.hr.Status.Conditions
	if i := index(conditions, name); i >= 0 {
		next.LastTransitionTime = since(conditions[i], next)
		conditions[i] = next
		return
	}
	p.hr.Status.Conditions = append(conditions, next)
}

// since returns the transition time of a condition's next state.
func since(was, next metav1.Condition) metav1.Time {
	if was.Status == next.Status && was.Reason == next.Reason && was.Message == next.Message {
		return was.LastTransitionTime
	}
	return next.LastTransitionTime
}

func index(conditions []metav1.Condition, name string) int {
	return slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == name })
}

// drop removes conditions.
func (p *pass) drop(names ...string) {
	p.hr.Status.Conditions = slices.DeleteFunc(p.hr.Status.Conditions, func(c metav1.Condition) bool { return slices.Contains(names, c.Type) })
}

// progress says that the pass goes on; stall, that nothing more is tried.
func (p *pass) progress(reason, message string) {
	p.drop(stalled)
	p.mark(reconciling, metav1.ConditionTrue, reason, message)
}

func (p *pass) stall(reason, message string) {
	p.drop(reconciling)
	p.mark(stalled, metav1.ConditionTrue, reason, message)
}

func (p *pass) is(name string, status metav1.ConditionStatus) bool {
	c := flux.Condition(p.hr.Status.Conditions, name)
	return c != nil && c.Status == status
}

// summarize derives Ready from Remediated, TestSuccess and Released: from the one of
// the newest generation, and of several the first. A remediation is never ready.
func (p *pass) summarize() {
	order := []string{remediated, released}
	tests := p.hr.Tests()
	if tests.Enable && !tests.IgnoreFailures {
		order = []string{remediated, tested, released}
	}
	if !tests.Enable {
		p.drop(tested)
	}
	var of *metav1.Condition
	for _, name := range order {
		if c := flux.Condition(p.hr.Status.Conditions, name); c != nil && (of == nil || c.ObservedGeneration > of.ObservedGeneration) {
			of = c
		}
	}
	if of == nil {
		return
	}
	status := of.Status
	if of.Type == remediated {
		status = metav1.ConditionFalse
	}
	reason, message := of.Reason, of.Message
	if status == metav1.ConditionTrue {
		p.drop(stalled)
	}
	p.mark(ready, status, reason, message)
}

// settled returns the conditions in helm-controller's order; those that have not
// changed keep their times.
func settled(before, now []metav1.Condition) []metav1.Condition {
	rank := []string{reconciling, stalled, ready}
	for i, c := range now {
		if was := flux.Condition(before, c.Type); was != nil {
			now[i].LastTransitionTime = since(*was, c)
		}
	}
	slices.SortStableFunc(now, func(a, b metav1.Condition) int {
		ra, rb := slices.Index(rank, a.Type), slices.Index(rank, b.Type)
		switch {
		case ra >= 0 && rb >= 0:
			return cmp.Compare(ra, rb)
		case ra >= 0:
			return -1
		case rb >= 0:
			return 1
		}
		return cmp.Compare(a.Type, b.Type)
	})
	return now
}
