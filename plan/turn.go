package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// A node port or a cluster IP belongs to one Service at a time (Kubernetes 1.36.3,
// pkg/registry/core/service/storage/alloc.go). A dry run frees nothing, so it is refused for a Service that takes
// over what another one gives up in the same plan. Helm sends Services in the order of the templates' names and
// deletes at the end what the chart has dropped (4.3.1, pkg/release/v1/util/manifest_sorter.go, SortManifests, and
// pkg/kube/client.go, update), so it fails, or is lucky. Here such a Service has to wait for its turn.

// turn says when a Service is sent that takes over what others have.
type turn struct {
	takes []taking
	// rank is the number of Services that have to be sent one after another before it.
	rank int
	// gone is the Service that has to be deleted before it; zero if there is none.
	gone manifest.ID
}

// taking is a node port or an IP address that another Service of the release has until now.
type taking struct {
	what string
	from manifest.ID
}

// turnOf returns when an object is sent, the zero turn if that does not depend on others.
func (b *builder) turnOf(id manifest.ID) turn {
	if b.turns == nil {
		b.turns = b.takeTurns()
	}
	return b.turns[id]
}

// takeTurns returns the turns of all Services that take something over. Services that would have to swap
// something have none: neither can be first.
func (b *builder) takeTurns() map[manifest.ID]turn {
	open := map[manifest.ID]turn{}
	var holders map[string]manifest.ID
	for i, o := range b.in.Target.Objects {
		if o.GroupKind() != kinds.Service || b.targets[o.ID] != i {
			continue
		}
		if holders == nil {
			holders = b.holders()
		}
		if takes := b.takes(o, holders); len(takes) > 0 {
			open[o.ID] = turn{takes: takes}
		}
	}
	turns := map[manifest.ID]turn{}
	for settled := true; settled; {
		settled = false
		for id, t := range open {
			if slices.ContainsFunc(t.takes, func(g taking) bool { _, waits := open[g.from]; return waits }) {
				continue
			}
			for _, g := range t.takes {
				before := turns[g.from]
				if !b.wants(g.from) {
					before.gone = g.from
				}
				t.rank, t.gone = max(t.rank, before.rank+1), cmp.Or(t.gone, before.gone)
			}
			turns[id], settled = t, true
			delete(open, id)
		}
	}
	return turns
}

// holders returns which live Services have the allocations.
func (b *builder) holders() map[string]manifest.ID {
	out := map[string]manifest.ID{}
	for id, live := range b.in.Live {
		if id.GroupKind() == kinds.Service {
			for _, what := range allocations(live.content()) {
				out[what] = id
			}
		}
	}
	return out
}

// takes returns what a Service takes over; nothing if it also wants what another one keeps.
func (b *builder) takes(o manifest.Object, holders map[string]manifest.ID) []taking {
	var out []taking
	for _, what := range allocations(o.Doc.Object) {
		switch from, held := holders[what]; {
		case !held || from == o.ID:
		case !b.givesUp(from, what):
			return nil
		default:
			out = append(out, taking{what, from})
		}
	}
	return out
}

// givesUp reports whether a Service no longer has an allocation after this plan.
func (b *builder) givesUp(id manifest.ID, what string) bool {
	i, wanted := b.targets[id]
	if !wanted {
		return b.goes(id)
	}
	after := b.in.Target.Objects[i].Doc
	if answer := b.in.Predictions[stepID(StageResources, id)].After; answer != nil {
		after = answer
	}
	return !slices.Contains(allocations(after.Object), what)
}

// allocations returns the node ports and cluster IPs that a Service has or asks for.
func allocations(service map[string]any) []string {
	spec, _ := service["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	addresses, _ := spec["clusterIPs"].([]any)
	values := append([]any{spec["clusterIP"], spec["healthCheckNodePort"]}, addresses...)
	for _, port := range ports {
		values = append(values, jsontree.KeyOf(port, "nodePort"))
	}
	var out []string
	for _, v := range values {
		text, _ := jsontree.ScalarText(v)
		if text != "" && text != "0" && text != "None" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// inTurn splits waves so that each object comes after those from which it takes something over, and after those
// of its wave that it needs.
func (b *builder) inTurn(waves []Wave) []Wave {
	var out []Wave
	for _, w := range waves {
		if slices.ContainsFunc(w.Steps, func(s Step) bool { return b.rank(&s) > 0 }) {
			slices.SortStableFunc(w.Steps, func(x, y Step) int { return cmp.Compare(b.rank(&x), b.rank(&y)) })
		}
		for rest := w.Steps; len(rest) > 0; {
			n := 1
			for n < len(rest) && b.rank(&rest[n]) == b.rank(&rest[0]) {
				n++
			}
			out = append(out, Wave{Steps: rest[:n:n]})
			rest = rest[n:]
		}
	}
	return out
}

// rank returns how many objects of its wave have to be sent one after another before a step's.
func (b *builder) rank(s *Step) int {
	if rank := b.turnOf(s.Object).rank; rank > 0 {
		return rank
	}
	needs := s.Needs()
	if id, waits := b.waits[s.ID]; waits {
		needs = append(needs, id)
	}
	for _, id := range needs {
		if b.wants(id) && installTier(id) == installTier(s.Object) {
			return 1
		}
	}
	return 0
}

// checkAllocations blocks if two Services of the target ask for the same port or address: a dry run accepts each.
func (b *builder) checkAllocations() {
	if b.in.Operation == Rollback { // the cluster has accepted that revision
		return
	}
	wanted := map[string]manifest.ID{}
	for i, o := range b.in.Target.Objects {
		if o.GroupKind() != kinds.Service || b.targets[o.ID] != i {
			continue
		}
		for _, what := range allocations(o.Doc.Object) {
			if first, taken := wanted[what]; taken {
				b.blockUnsent(Problem{
					Kind: ProblemInvalid, Object: o.ID, Do: "give one of them another",
					What: fmt.Sprintf("it asks for %s, as does Service/%s, and only one can have it", what, first.Name),
				})
				continue
			}
			wanted[what] = o.ID
		}
	}
}

// freed says which Service gives up what the API server says is taken; "" if none does.
func (b *builder) freed(s *Step, r Refusal) string {
	for _, g := range b.turnOf(s.Object).takes {
		switch {
		case !r.taken() || !strings.Contains(r.Message, g.what):
		case b.wants(g.from):
			return fmt.Sprintf("%s is free once Service/%s gives it up", g.what, g.from.Name)
		default:
			return fmt.Sprintf("%s is free once Service/%s is deleted", g.what, g.from.Name)
		}
	}
	return ""
}

// behindDeletion returns the step of a Service that takes over what a deleted one has.
func (b *builder) behindDeletion(o manifest.Object) Step {
	step := b.wantedStep(o)
	if step.Op != OpNone {
		step.Of = stepID(StageResources, b.turnOf(o.ID).gone)
	}
	return step
}

// goes reports whether the plan deletes an object that is not in the target.
func (b *builder) goes(id manifest.ID) bool {
	s, known := b.storedObject(id)
	becomesHook := slices.ContainsFunc(b.in.Target.HookObjects, func(objects []manifest.Object) bool { return contains(id, objects) })
	return known && b.in.Operation != CorrectDrift && b.stays(s, becomesHook) == ""
}
