package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Stale says in which ways a plan made now differs from one that was reviewed
// earlier; nothing means that the reviewed one still holds. What counts is what
// would be done: objects whose status, resourceVersion or unrelated fields have
// moved on do not make a plan stale.
func Stale(reviewed, fresh *Plan) []string {
	var out []string
	if reviewed.Cluster.UID != fresh.Cluster.UID {
		return []string{fmt.Sprintf("it was made for another cluster (%s)", reviewed.Cluster.Server)}
	}
	if reviewed.FromRevision != fresh.FromRevision {
		out = append(out, fmt.Sprintf("the release was at revision %d and is at revision %d now", reviewed.FromRevision, fresh.FromRevision))
	}
	before, after := decisions(reviewed), decisions(fresh)
	reviewed.Steps(func(_ StageName, s *Step) {
		now, still := after[s.ID]
		switch {
		case s.Op == OpRecord:
			// It follows from the revision that the release is at.
			if len(out) == 0 && now != before[s.ID] {
				out = append(out, "what would be recorded has changed")
			}
		case !still, now.op == OpNone && s.Op != OpNone:
			out = append(out, fmt.Sprintf("%s: %s is no longer needed", s.Object, s.Op))
		case now.op != before[s.ID].op:
			out = append(out, fmt.Sprintf("%s: %s was planned, now it takes %s", s.Object, s.Op, now.op))
		case now.uid != before[s.ID].uid && s.Op != OpNone:
			out = append(out, fmt.Sprintf("%s: it was deleted and created anew since", s.Object))
		case now.what != before[s.ID].what:
			out = append(out, fmt.Sprintf("%s: it was changed since, so %s means something else now", s.Object, s.Op))
		}
	})
	fresh.Steps(func(_ StageName, s *Step) {
		if _, was := before[s.ID]; !was && s.Op != OpRecord {
			out = append(out, fmt.Sprintf("%s: %s is new", s.Object, s.Op))
		}
	})
	for _, p := range fresh.Problems {
		if p.Blocking {
			out = append(out, about(p.Object, p.What))
		}
	}
	return out
}

// about names the object of a problem; those of the whole release have none.
func about(id manifest.ID, text string) string {
	if id.Kind == "" {
		return text
	}
	return id.String() + ": " + text
}

// decision is what of a step must stay the same.
type decision struct {
	op   Op
	what string
	uid  string
}

// decisions are a plan's steps, without those that do nothing: whether an
// object is unchanged or not looked at is the same.
func decisions(p *Plan) map[string]decision {
	out := map[string]decision{}
	p.Steps(func(_ StageName, s *Step) {
		what := struct {
			Patch   []byte
			Changes []Change
			Record  *Record
		}{s.Patch, withoutWriter(s.Changes), s.Record}
		text, err := json.Marshal(what)
		if err != nil {
			text = []byte(err.Error())
		}
		out[s.ID] = decision{op: s.Op, what: string(bytes.TrimSpace(text)), uid: string(s.Expect.UID)}
	})
	return out
}

// withoutWriter drops who wrote a drifted field: that is told, not decided.
func withoutWriter(changes []Change) []Change {
	out := make([]Change, len(changes))
	for i, c := range changes {
		c.Detail, c.At = "", time.Time{}
		out[i] = c
	}
	return out
}
