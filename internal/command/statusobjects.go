package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// inCluster reports whether a revision's objects should be in the cluster.
func inCluster(r *release.Revision) bool {
	return r.Info.Status != release.StatusSuperseded && r.Info.Status != release.StatusUninstalled
}

// objectsText is the part of status about a revision's objects: first those that are not ready,
// with their reasons, then those whose state is worth a line, then the others, counted by kind.
func objectsText(states []engine.ObjectState, mask *redact.Mask) string {
	var out strings.Builder
	var troubled, well []engine.ObjectState
	others := map[string]int{}
	for _, s := range states {
		switch known := kinds.Of(s.GroupKind()); {
		case s.State == readiness.Failed, s.State == readiness.Progressing, s.Unreadable != "":
			troubled = append(troubled, s)
		case known.Readiness == kinds.AtOnce, s.State == readiness.Unknown:
			others[s.Kind]++
		default:
			well = append(well, s)
		}
	}
	switch {
	case len(states) == 0:
		return "RESOURCES: none\n"
	case len(states) == 1:
		fmt.Fprintf(&out, "RESOURCES: %d of 1 is ready\n", 1-len(troubled))
	case len(troubled) == 0:
		fmt.Fprintf(&out, "RESOURCES: all %d are ready\n", len(states))
	default:
		fmt.Fprintf(&out, "RESOURCES: %d of %d are ready\n", len(states)-len(troubled), len(states))
	}
	width := 0
	for _, s := range troubled {
		width = max(width, len(s.String()))
	}
	ready := together(well)
	for _, line := range ready {
		width = max(width, len(line[0]))
	}
	for len(troubled) > 0 {
		var reasons []apply.Reason
		first := troubled[0].Reasons
		troubled = slices.DeleteFunc(troubled, func(s engine.ObjectState) bool {
			same := apply.SameCauses(first, s.Reasons)
			if same {
				fmt.Fprintf(&out, "  ✗ %-*s  %s\n", width, s.ID, mask.Text(s.Why))
				reasons = append(reasons, s.Reasons...)
			}
			return same
		})
		for _, reason := range apply.Grouped(reasons) {
			fmt.Fprintf(&out, "      %s\n", mask.Text(reason.String()))
		}
	}
	for _, line := range ready {
		fmt.Fprintf(&out, "  ✓ %-*s  %s\n", width, line[0], line[1])
	}
	if len(others) > 0 {
		fmt.Fprintf(&out, "  ✓ %s\n", strings.Join(kindCounts(others), ", "))
	}
	return out.String()
}

// together returns ready objects, each with its state. Three or more objects of a kind with the
// same state are combined, such as "34 PrometheusRules", unless their kind runs pods.
func together(well []engine.ObjectState) [][2]string {
	const fold, told = 3, -1
	alike := func(s engine.ObjectState) [2]string { return [2]string{s.Kind, s.Why} }
	same := map[[2]string]int{}
	for _, s := range well {
		if !kinds.Of(s.GroupKind()).SelectsPods {
			same[alike(s)]++
		}
	}
	var out [][2]string
	for _, s := range well {
		switch n := same[alike(s)]; {
		case n == told:
		case n < fold:
			out = append(out, [2]string{s.String(), s.Why})
		default:
			out = append(out, [2]string{report.CountOfKind(n, s.Kind), s.Why})
			same[alike(s)] = told
		}
	}
	return out
}

// kindCounts formats counts by kind, such as "2 ConfigMaps" and "1 Secret".
func kindCounts(kinds map[string]int) []string {
	var out []string
	for kind, n := range kinds {
		out = append(out, report.CountOfKind(n, kind))
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(afterSpace(a), afterSpace(b)) })
	return out
}

func afterSpace(text string) string {
	_, rest, _ := strings.Cut(text, " ")
	return rest
}

// testsText is the part of status about a revision's tests.
func testsText(r *release.Revision) string {
	var out strings.Builder
	for _, hook := range r.Hooks {
		if !hook.On(manifest.Test) {
			continue
		}
		last := "has not run"
		if run := hook.LastRun; run.Phase != "" {
			last = string(run.Phase)
			if !run.CompletedAt.IsZero() {
				last += ", " + localTime(run.CompletedAt)
			}
		}
		fmt.Fprintf(&out, "  %s/%s: %s\n", hook.Kind, hook.Name, last)
	}
	if out.Len() == 0 {
		return "TESTS: none\n"
	}
	return "TESTS:\n" + out.String()
}

// statusTree returns a revision in the form of helm status -o json, with the release's objects and
// their pods in info.resources (Helm 4.3.1, pkg/kube/client.go, Get). The chart is included if
// asked for. chart_source is where the chart came from, if the record says so.
func (p *program) statusTree(ctx context.Context, s *session, r *release.Revision, withChart bool) (any, error) {
	tree, err := recordTree(r.WithStatus(r.Info.Status, described(r)))
	if err != nil {
		return nil, err
	}
	record, _ := tree.(map[string]any)
	if !withChart {
		delete(record, "chart")
	}
	if from := plan.AnnotatedSource(r.Annotations()); record != nil && from != nil {
		record["chart_source"] = map[string]any{"url": from.URL, "repository": from.Repository, "digest": from.Digest}
	}
	info, _ := record["info"].(map[string]any)
	if info == nil || !inCluster(r) {
		return tree, nil
	}
	states, err := s.engine.State(ctx, r)
	if err != nil {
		return nil, err
	}
	resources := map[string][]any{}
	for _, state := range states {
		if state.Live != nil {
			key := state.Version + "/" + state.Kind
			resources[key] = append(resources[key], state.Live.Object)
		}
	}
	for _, pods := range s.engine.Pods(ctx, states) {
		resources["v1/Pod(related)"] = append(resources["v1/Pod(related)"], pods.UnstructuredContent())
	}
	info["resources"] = resources
	return tree, nil
}

// nextText returns the commands to go on from a failed revision, or from a pending one while
// nobody holds the release's lock; "" for other revisions.
func (p *program) nextText(r *release.Revision, h release.History, pending plan.Pending) string {
	var why string
	var flags []string
	switch is := r.Info.Status.Pending(); {
	case is && pending.Unlocked:
		why = "There is no permission for Leases, so it is not known whether the run that wrote this\nrevision is still working. If it is not:\n"
		flags = []string{"--take-over"}
	case is && pending.Ours:
		why = "Nobody holds the release's lock: the run that wrote this revision was interrupted.\n"
	case is:
		why = "Nobody holds the release's lock. Another tool wrote this revision; Helm leaves it like this when\nit is killed. If nobody is running it:\n"
		flags = []string{"--take-over"}
	case r.Info.Status != release.StatusFailed:
		return ""
	}
	command := func(args ...string) string { return p.command(append(args, flags...)...) + "\n" }
	const keep = "Add --keep-history to the uninstall if the records are to be kept.\n" // no record says whether it was given
	good := h.LastSuccessful()
	switch {
	case r.HalfUninstalled() && good == nil:
		return why + "Go on: " + command("uninstall", r.Name) + keep
	case good == nil:
		return why + "Go on:     " + command("upgrade", "--install", r.Name, "CHART") + "Remove it: " + command("uninstall", r.Name)
	}
	back := "Go back: " + command("rollback", r.Name, strconv.Itoa(good.Version))
	if r.HalfUninstalled() {
		return why + "Go on:   " + command("uninstall", r.Name) + back + keep
	}
	return why + "Go on:   " + command("upgrade", r.Name, "CHART") + back
}
