package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// instant are the kinds that are ready as soon as they exist.
var instant = []string{
	"ConfigMap", "Secret", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
	"NetworkPolicy", "ResourceQuota", "LimitRange", "PriorityClass", "StorageClass", "IngressClass",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// waitStage plans the waits: every object of the target that can be anything
// but ready, unchanged ones included.
func (b *builder) waitStage() {
	if !b.in.Options.Wait {
		return
	}
	var steps []Step
	seen := map[manifest.ID]bool{}
	for _, o := range b.in.Target.Objects {
		if seen[o.ID] || slices.Contains(instant, o.Kind) || (o.Kind == "Job" && !b.in.Options.WaitForJobs) {
			continue
		}
		seen[o.ID] = true
		steps = append(steps, b.waitStep(StageWait, o, "until it is ready"))
	}
	if len(steps) > 0 {
		b.stage(StageWait, []Wave{{Steps: steps}})
	}
}

func (b *builder) waitStep(stage StageName, o manifest.Object, why string) Step {
	return Step{
		ID: stepID(stage, o.ID) + "/wait", Op: OpWait, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version),
		Fidelity: FidelityUnknown, Why: why,
	}
}

// namespaceStage creates the release's namespace when that is asked for and
// needed.
func (b *builder) namespaceStage() {
	if !b.bringsNamespace(b.in.Release.Namespace) || !b.in.Options.CreateNamespace {
		return
	}
	doc := NamespaceDoc(b.in.Release.Namespace)
	id := NamespaceID(b.in.Release.Namespace)
	b.stage(StageNamespace, oneByOne([]Step{{
		ID: stepID(StageNamespace, id), Op: OpCreate, Object: id, APIVersion: "v1", Body: doc, After: doc,
		Expect: Expect{Absent: true}, Fidelity: FidelityEstimated, Estimate: "a namespace needs no dry run",
		Why: "--create-namespace, and it is not there",
	}}))
}

// crdStage creates the CRDs of crds/ folders that are not there yet and waits
// until they are established. Those that are there stay as they are.
func (b *builder) crdStage() {
	if b.in.Options.SkipCRDs || b.in.Operation == Rollback {
		return
	}
	var creates, waits []Step
	for _, o := range b.in.Target.CRDs {
		live := b.live(o.ID)
		if live.Object != nil {
			continue
		}
		if live.Unreadable != "" {
			b.warn(o.ID, "it can't be read, so it is taken to be there: "+live.Unreadable, "have it installed by an administrator, or use --skip-crds")
			continue
		}
		step := Step{
			ID: stepID(StageCRDs, o.ID), Op: OpCreate, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version), Source: o.Source,
			Body: o.Doc, Expect: Expect{Absent: true}, Fidelity: FidelityExact, Why: "crds/ has it and the cluster does not",
		}
		b.predict(&step, o.Doc)
		creates = append(creates, step)
		waits = append(waits, b.waitStep(StageCRDs, o, "until its kinds are served"))
	}
	if len(creates) > 0 {
		b.stage(StageCRDs, []Wave{{Steps: creates}, {Steps: waits}})
	}
}
