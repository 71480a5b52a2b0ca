package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// predict sets the step's outcome: from the API server's answer if there is
// one, and from the local estimate otherwise.
func (b *builder) predict(step *Step, estimate *unstructured.Unstructured) {
	if why := b.notYet(step); why != "" {
		b.estimated(step, estimate, why)
		if r := b.tried(step); r != nil {
			b.refuse(step, Problem{Kind: ProblemInvalid, What: "the API server refuses it: " + r.Message, Do: remedy(*r)})
		}
		return
	}
	id := b.dryRunID(step)
	answer, asked := b.in.Predictions[id]
	answer = b.withConflicts(step, answer)
	switch {
	case b.in.Predictions == nil, !asked && id != step.ID: // the server is asked next
		step.After, step.Fidelity = estimate, FidelityEstimated
	case !asked:
		b.estimated(step, estimate, NotAsked)
		return
	case answer.Refused != nil:
		b.refused(step, estimate, *answer.Refused)
	case answer.Estimated != "":
		b.estimated(step, estimate, answer.Estimated)
		return
	default:
		step.ForcesDrift = answer.NeedsForce
		step.After, step.Fidelity = serverfields.StripServerAssigned(answer.After, step.Before, step.Body), FidelityExact
		if why := b.judgedAnew(step); why != "" {
			step.Fidelity, step.Estimate = FidelityEstimated, why
		}
	}
	b.diff(step)
}

// foresee sets the outcome of a step that is InPlace. Unlike predict, it does not consider deleting
// the object and creating it again.
func (b *builder) foresee(step *Step, estimate *unstructured.Unstructured) {
	step.After, step.Fidelity = estimate, FidelityEstimated
	if step.Estimate = b.notYet(step); step.Estimate != "" || b.in.Predictions == nil {
		return
	}
	switch answer, asked := b.in.Predictions[step.ID]; {
	case !asked:
		step.Estimate = NotAsked
	case answer.Refused != nil:
		step.Estimate = "the API server refuses it"
	case answer.Estimated != "":
		step.Estimate = answer.Estimated
	default:
		step.After, step.Fidelity = serverfields.StripServerAssigned(answer.After, step.Before, step.Body), FidelityExact
	}
}

// serverWarnings adds the API server's warnings in dry runs, each text once, at the first object that it
// is about.
func (b *builder) serverWarnings() {
	var texts []string
	about := map[string][]*Step{}
	b.plan.Steps(func(_ StageName, s *Step) {
		for _, id := range []string{s.ID, patchID(s.ID), replacementID(s.ID)} {
			for _, text := range b.in.Predictions[id].Warnings {
				steps := about[text]
				if steps == nil {
					texts = append(texts, text)
				}
				if len(steps) == 0 || steps[len(steps)-1] != s {
					about[text] = append(steps, s)
				}
			}
		}
	})
	for _, text := range texts {
		first, more := about[text][0], len(about[text])-1
		what := "the API server warns: " + text
		if more > 0 {
			what += fmt.Sprintf("; the same for %d more", more)
		}
		b.problems(Problem{Step: first.ID, Object: first.Object, What: what})
	}
}

// estimateUnknown marks steps whose bodies contain placeholders for unknown values as estimated:
// what the API server answered was about something else.
func (b *builder) estimateUnknown() {
	if b.in.Estimated == nil {
		return
	}
	b.plan.Steps(func(_ StageName, s *Step) {
		if s.Body != nil && s.Fidelity == FidelityExact && b.in.Estimated(s.Body.Object) {
			s.Fidelity, s.Estimate = FidelityEstimated, "it contains values that are not known yet"
		}
	})
}

// NotAsked is why an outcome is estimated if the API server could have been asked but was not.
const NotAsked = "the API server was not asked"

// notYet says why the server can't be asked: the object's namespace, kind or version does not exist
// yet, the kind has another schema by then, or the namespace is being deleted. It returns "" if it can.
func (b *builder) notYet(step *Step) string {
	switch name := step.Object.Namespace; {
	case b.namespaceGoes(name):
		return fmt.Sprintf("the namespace %s is being deleted", name)
	case name == "" || !b.namespaceMissing(name):
		return b.kindNotYet(step)
	case b.bringsNamespace(name):
		return fmt.Sprintf("the namespace %s comes with this plan", name)
	default:
		return fmt.Sprintf("there is no namespace %s", name)
	}
}

// kindNotYet is the part of notYet about the kind.
func (b *builder) kindNotYet(step *Step) string {
	id := step.Object
	if len(b.in.Kinds[id.GroupKind()].Versions) == 0 && b.bringsKind(id) {
		return fmt.Sprintf("the kind %s comes with this plan", id.Kind)
	}
	if gv, err := schema.ParseGroupVersion(step.APIVersion); err == nil && b.bringsVersion(id, gv.Version) {
		return fmt.Sprintf("%s of %s comes with this plan", gv.Version, id.Kind)
	}
	if b.redefines(step) {
		return fmt.Sprintf("this plan changes the CRD of %s first", id.Kind)
	}
	return ""
}

// estimated sets the step's outcome to an estimate; why says why it is not exact.
func (b *builder) estimated(step *Step, estimate *unstructured.Unstructured, why string) {
	step.After, step.Fidelity, step.Estimate = estimate, FidelityEstimated, why
	b.predictImmutable(step)
	b.foreseeConflicts(step)
	b.diff(step)
}

// predictImmutable checks the step against what is known locally about immutable fields.
func (b *builder) predictImmutable(step *Step) {
	if step.Before == nil || step.Body == nil || step.Op == OpCreate {
		return
	}
	found := immutable.PredictChange(step.Before, step.Body, step.After)
	if len(found) == 0 {
		return
	}
	fields := make([]string, len(found))
	for i, f := range found {
		fields[i] = f.Path
	}
	why := found[0].Why
	if len(found) > 1 {
		why = fieldList(fields) + " immutable"
	}
	b.immutable(step, why, fields)
}

// refused turns a refused dry run into a recreate or a problem.
func (b *builder) refused(step *Step, estimate *unstructured.Unstructured, r Refusal) {
	step.After, step.Fidelity = estimate, FidelityEstimated
	switch {
	case r.Immutable:
		why, fields := r.Message, immutable.Narrow(r.Fields, step.Before, estimate)
		if len(fields) > 0 {
			why = fieldList(fields) + " immutable"
		}
		b.immutable(step, why, fields)
		return
	case len(r.Managers) > 0:
		b.conflict(step, r)
		return
	default:
		step.Estimate = "the API server refuses it"
	}
	if why := b.awaited(step, r); why != "" {
		step.Estimate = why
		return
	}
	if !b.in.Undoing && b.lacks(step, r) {
		step.Estimate = "its dry run is not permitted"
		return
	}
	p := Problem{Kind: r.kind(), What: "the API server refuses it: " + r.Message, Do: remedy(r)}
	if id, missing := b.missingNeed(step, r); missing {
		p.Kind, p.Do = ProblemInvalid, fmt.Sprintf("create the %s %s first, or correct the chart", id.Kind, id.Name)
	}
	b.refuse(step, p)
}

func fieldList(fields []string) string {
	if len(fields) == 0 {
		return "some of its fields are"
	}
	if len(fields) == 1 {
		return fields[0] + " is"
	}
	return strings.Join(fields, ", ") + " are"
}
