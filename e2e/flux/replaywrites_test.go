//go:build cluster

package flux_test

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// transitions are what each condition became, write by write: "False UpgradeFailed", "removed", and for
// Reconciling the actions that ran. Writes that only say that a pass has begun are left out (ours
// writes that with its plan), and so is how often a cycle repeats, which depends on timing.
type transitions map[string][]string

func (t transitions) add(kind, text string) {
	if strings.Contains(text, " SourceNotReady ") {
		return // it is chance whether a pass falls between the HelmRelease and its source
	}
	if kind == "Reconciling" {
		text, _, _ = strings.Cut(text, "Fulfilling")
		_, action, runs := strings.Cut(text, "Running '")
		switch {
		case runs:
			text, _, _ = strings.Cut(action, "'")
		default:
			return
		}
	}
	about, _, _ := strings.Cut(text, " (gen")
	if all := t[kind]; len(all) == 0 || all[len(all)-1] != about {
		t[kind] = append(all, about)
	}
}

// settled returns the transitions with each repeated cycle only once, and without those that a pass
// that changes nothing makes and takes back: ours writes nothing then. before are the conditions that
// the step began with.
func (t transitions) settled(before []metav1.Condition) transitions {
	out := transitions{}
	for kind, all := range t {
		began := transitions{}
		if c := flux.Condition(before, kind); c != nil {
			began.add(kind, text(*c))
		}
		all = slices.Insert(all, 0, append(began[kind], "removed")[0])
		for length := 1; length <= len(all)/2; length++ {
			for i := 0; i+2*length <= len(all); {
				if slices.Equal(all[i:i+length], all[i+length:i+2*length]) {
					all = slices.Delete(all, i, i+length)
					continue
				}
				i++
			}
		}
		if len(all) == 3 && all[0] == all[2] && all[1] == "removed" {
			all = all[:1]
		}
		if all = all[1:]; len(all) > 0 {
			out[kind] = all
		}
	}
	return out
}

// recordedTransitions returns the transitions of a step in the trace.
func (r *replay) recordedTransitions(step *fluxtest.Step) transitions {
	out := transitions{}
	for _, fields := range step.Writes {
		for name, value := range fields {
			kind, ok := strings.CutPrefix(name, "condition ")
			if !ok {
				continue
			}
			text, there := value.(string)
			if !there {
				text = "removed"
			}
			out.add(kind, text)
		}
	}
	var before []metav1.Condition
	if i := slices.Index(r.trace.Steps, step); i > 0 && r.trace.Steps[i-1].HelmRelease != nil {
		before = r.trace.Steps[i-1].HelmRelease.Status.Conditions
	}
	return out.settled(before)
}

// writtenTransitions returns the transitions of statuses that were written in this order; the first is
// the one before the step.
func writtenTransitions(statuses []flux.HelmReleaseStatus) transitions {
	out := transitions{}
	for i := 1; i < len(statuses); i++ {
		before, now := statuses[i-1].Conditions, statuses[i].Conditions
		for _, c := range now {
			was := flux.Condition(before, c.Type)
			if was == nil || was.Status != c.Status || was.Reason != c.Reason || was.Message != c.Message || was.ObservedGeneration != c.ObservedGeneration {
				out.add(c.Type, text(c))
			}
		}
		for _, c := range before {
			if flux.Condition(now, c.Type) == nil {
				out.add(c.Type, "removed")
			}
		}
	}
	var before []metav1.Condition
	if len(statuses) > 0 {
		before = statuses[0].Conditions
	}
	return out.settled(before)
}

func text(c metav1.Condition) string {
	return string(c.Status) + " " + c.Reason + " (gen): " + c.Message
}

// notifications returns what is sent to --events-addr, each once: the severity, the reason and the
// annotations.
func notifications(events []reconcile.Event) (out []string) {
	for _, e := range events {
		severity := "info"
		if e.Warning {
			severity = "error"
		}
		out = append(out, fluxtest.Notification{Severity: severity, Reason: e.Reason, Metadata: e.Metadata}.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
