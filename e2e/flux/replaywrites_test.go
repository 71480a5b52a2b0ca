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

// transitions are what each condition became, write by write: "False UpgradeFailed", "removed", for
// Reconciling the actions that ran. What is written only to say that a pass has begun is left out
// (ours writes that with its plan), and so is how often it goes round in a circle, which time decides.
type transitions map[string][]string

func (t transitions) add(kind, text string) {
	if strings.Contains(text, " SourceNotReady ") {
		return // whether a pass falls between the HelmRelease and its source is chance
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

// settled are the transitions with each circle gone round once, and without those that a pass which
// changes nothing makes and takes back: ours writes nothing then. before are the conditions that
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

// recordedTransitions are those of the trace.
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

// writtenTransitions are those of statuses that were written in this order, the first of them the
// one before.
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

// notifications are what is told to --events-addr, each once: the severity, the reason and the
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
