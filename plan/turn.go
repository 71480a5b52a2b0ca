package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	// gone are the Services that have to be deleted before it.
	gone []manifest.ID
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
					before.gone = []manifest.ID{g.from}
				}
				t.rank = max(t.rank, before.rank+1)
				for _, id := range before.gone {
					if !slices.Contains(t.gone, id) {
						t.gone = append(t.gone, id)
					}
				}
			}
			turns[id], settled = t, true
			delete(open, id)
		}
	}
	return turns
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

// behindDeletions returns the step of a Service that may take over what deleted ones have.
func (b *builder) behindDeletions(o manifest.Object) Step {
	step := b.wantedStep(o)
	if step.Op != OpNone {
		for _, id := range b.turnOf(o.ID).gone {
			step.Behind = append(step.Behind, stepID(StageResources, id))
		}
	}
	return step
}
