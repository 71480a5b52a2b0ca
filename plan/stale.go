package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Stale returns the differences between a plan that was reviewed earlier and a fresh one; if there
// are none, the reviewed plan still holds. Only what would be done counts: changes to an object's
// status, resourceVersion or unrelated fields don't make a plan stale.
func Stale(reviewed, fresh *Plan) []Difference {
	out := Moved(reviewed, fresh)
	if otherCluster(reviewed, fresh) != "" {
		return out
	}
	if text(Step{Changes: decided(reviewed.Values)}) != text(Step{Changes: decided(fresh.Values)}) && len(out) == 0 {
		out = append(out, Difference{What: "the values would change differently than planned"})
	}
	out = append(out, steps(reviewed, fresh, len(out) > 0)...)
	for _, p := range fresh.Problems {
		if p.Blocking {
			out = append(out, Difference{Object: p.Object, What: p.What})
		}
	}
	return out
}

// Moved returns the differences between what two plans start from: the cluster, and the release's
// revision in it.
func Moved(reviewed, fresh *Plan) []Difference {
	what := otherCluster(reviewed, fresh)
	switch {
	case what != "":
	case reviewed.FromRevision == fresh.FromRevision:
		return nil
	case fresh.FoundPending && fresh.FromRevision == reviewed.ToRevision:
		what = fmt.Sprintf("a run that wrote revision %d was interrupted: what it did is kept", fresh.FromRevision)
	default:
		what = fmt.Sprintf("the release was at revision %d and is at revision %d now", reviewed.FromRevision, fresh.FromRevision)
	}
	return []Difference{{What: what}}
}

// Provided returns the IDs of the reviewed plan's steps that are no longer needed because what they
// bring exists by now: the release's namespace, or a CRD of crds/. Other releases bring these, too, and
// a run that meets them accepts them (apply/write.go, recognise).
func Provided(reviewed, fresh *Plan) map[string]bool {
	out := map[string]bool{}
	reviewed.Steps(func(stage StageName, s *Step) {
		if (stage == StageNamespace || stage == StageCRDs) && slices.Contains(fresh.Existing, s.Object) {
			out[s.ID] = true
		}
	})
	return out
}

// steps returns the differences between the steps of two plans. moved says that the release or its
// values have changed in the meantime, so the records necessarily differ.
func steps(reviewed, fresh *Plan, moved bool) []Difference {
	var out []Difference
	before, after := decisions(reviewed), decisions(fresh)
	provided := Provided(reviewed, fresh)
	found := map[string]*Step{}
	fresh.AllSteps(func(_ StageName, s *Step) { found[s.ID] = s })
	of := func(s *Step, format string, args ...any) {
		out = append(out, Difference{Object: s.Object, What: fmt.Sprintf(format, args...)})
	}
	reviewed.AllSteps(func(stage StageName, s *Step) {
		now, still := after[s.ID]
		was := before[s.ID]
		switch {
		case s.Op == OpRecord:
			if !moved && now != was {
				of(s, "what would be recorded has changed")
			}
		case !still && (s.MakesRoom() || stage == StageInterrupted): // the object is already gone, or has ended
		case provided[s.ID]:
		case !still, now.op == OpNone && s.Op != OpNone:
			of(s, "%s is no longer needed", s.Op)
		case now.op != was.op:
			of(s, "%s was planned, but %s is needed now", s.Op, now.op)
		case s.MakesRoom() && was.uid != now.uid, s.Op == OpRun && was.uid != now.uid && now.uid != "":
			of(s, meetsAnother)
		case s.Op == OpCreate && was.uid != "" && now.uid == "":
			of(s, "it was being deleted, and is gone now")
		case s.Op != OpRun && now.uid != was.uid && s.Op != OpNone:
			of(s, "it has been deleted and created again since")
		case now.what != was.what:
			out = append(out, changedSince(reviewed, s, found[s.ID]))
		case now.sent != was.sent:
			of(s, "what %s would send is not what the plan says", s.Op)
		default:
			if more := riskierBy(s, found[s.ID]); more != "" {
				of(s, "%s, which was not so when the plan was made", riskOf(more, found[s.ID]))
			}
		}
	})
	fresh.AllSteps(func(_ StageName, s *Step) {
		switch _, was := before[s.ID]; {
		case was, s.Op == OpRecord:
		case s.MakesRoom():
			of(s, meetsAnother)
		default:
			of(s, "%s is new", s.Op)
		}
	})
	if len(out) == 0 && !slices.Equal(order(reviewed, provided), order(fresh, nil)) {
		out = append(out, Difference{What: "the order of the steps has changed"})
	}
	if len(out) == 0 && !moved && wayBack(reviewed) != wayBack(fresh) {
		out = append(out, Difference{What: "a failure would roll back to another revision"})
	}
	return out
}

// riskierBy returns the most severe risk that a step has now and did not have when it was reviewed, "" if
// there is none. Deleting a StatefulSet is the same request whether or not its claims go with it.
func riskierBy(was, now *Step) Risk {
	had := was.Risks()
	for _, risk := range now.Risks() {
		if !slices.Contains(had, risk) {
			return risk
		}
	}
	return ""
}

const meetsAnother = "another object now has the hook's name"

// decision is the part of a step that must stay the same.
type decision struct {
	op Op
	// what depends on the live object, sent only on the chart and the values.
	what, sent string
	uid        string
}

// decisions returns a plan's decisions by step ID. All steps that do nothing are equal, whether the
// object is unchanged or was not looked at.
func decisions(p *Plan) map[string]decision {
	out := map[string]decision{}
	p.AllSteps(func(_ StageName, s *Step) {
		d := decision{op: s.Op, uid: string(s.Expect.UID)}
		switch s.Op {
		case OpNone:
		case OpRun: // an object with its name may be gone by now
			if s.InPlace() {
				d.what = text(decided(s.Changes))
			}
			d.sent = text(sentBy(s))
		case OpCreate, OpPatch, OpReplace, OpRecreate, OpDelete, OpKeep, OpAdopt, OpWait, OpRecord:
			d.what = text(Step{Patch: s.Patch, Changes: decided(s.Changes), Record: s.Record})
			sent := sentBy(s)
			sent.PatchType, sent.ForcesDrift, sent.Expect.Absent = s.PatchType, s.ForcesDrift, s.Expect.Absent
			d.sent = text(sent)
		}
		out[s.ID] = d
	})
	return out
}

// sentBy returns the fields of a writing step that determine its requests. They are compared in
// their saved form, in which an empty list and a missing one are the same.
func sentBy(s *Step) Step {
	hook := s.Hook
	if hook != nil { // the comparison with earlier revisions has no effect on the requests
		compared := *hook
		compared.Since = ""
		hook = &compared
	}
	return Step{
		When: s.When, Of: s.Of, Behind: s.Behind, Object: s.Object, APIVersion: s.APIVersion, Cascade: s.Cascade, Hook: hook,
		Body: s.Body, MigrateOwnership: s.MigrateOwnership, Clears: s.Clears, Empties: s.Empties, Unserved: s.Unserved,
	}
}

// text formats values for comparison.
func text(values ...any) string {
	data, err := json.Marshal(values)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// order returns the steps that do something, in order, without those that are provided.
func order(p *Plan, provided map[string]bool) []string {
	var out []string
	p.AllSteps(func(stage StageName, s *Step) {
		if s.Op != OpNone && !s.MakesRoom() && stage != StageInterrupted && !provided[s.ID] {
			out = append(out, string(stage)+"\n"+s.ID)
		}
	})
	return out
}

// wayBack describes what an atomic operation rolls back to if it fails. The steps of the rollback
// are planned only then.
func wayBack(p *Plan) string {
	if p.OnFailure == nil || p.OnFailure.Rollback == nil {
		return ""
	}
	return text(p.OnFailure.Rollback.To, p.OnFailure.Rollback.KeepHistory)
}

// decided strips changes of what is only displayed: who wrote a drifted field, and on which line a
// value is set.
func decided(changes []Change) []Change {
	out := make([]Change, len(changes))
	for i, c := range changes {
		c.Detail, c.Manager, c.At, c.Place = "", "", time.Time{}, Place{}
		out[i] = c
	}
	return out
}
