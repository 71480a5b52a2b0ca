package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/crdschema"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
)

// crdStage creates the missing CRDs of crds/ folders, updates the others with --update-crds, and
// waits until they are established.
func (b *builder) crdStage() {
	if b.in.Options.SkipCRDs || b.in.Operation == Rollback {
		return
	}
	var writes, waits []Step
	for _, o := range b.in.Target.CRDs {
		live := b.live(o.ID)
		if live.Unreadable != "" {
			b.warn(o.ID, "it can't be read, so it is assumed to exist: "+live.Unreadable, "ask an administrator to install it, or add --skip-crds")
			continue
		}
		if live.Object != nil && live.Object.GetDeletionTimestamp() != nil {
			b.blockTerminating(o.ID, live.Object)
			continue
		}
		if live.Object != nil && !b.in.Options.UpdateCRDs {
			b.leaveCRD(o, live.Object)
			continue
		}
		step := Step{
			ID: stepID(StageCRDs, o.ID), Op: OpCreate, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version), Source: o.Source,
			Body: o.Doc, Expect: Expect{Absent: true}, Fidelity: FidelityExact, Why: "crds/ has it and the cluster does not",
		}
		if live.Object == nil {
			if b.in.Options.ServerSide { // as Helm 4 sends them (pkg/action/install.go, installCRDs)
				step.PatchType = types.ApplyPatchType
			}
			b.predict(&step, o.Doc)
		} else if !b.updateCRD(&step, live.Object) {
			b.plan.Existing = append(b.plan.Existing, o.ID)
			continue
		}
		b.checkTemplates(o)
		writes = append(writes, step)
		waits = append(waits, b.waitStep(StageCRDs, o, "until the kinds are served"))
	}
	b.warnLeftCRDs()
	if len(writes) > 0 {
		b.stage(StageCRDs, []Wave{{Steps: writes}, {Steps: waits}})
	}
}

// checkTemplates blocks on a CRD of crds/ that this plan writes and that is also a resource. Helm does not
// install such a chart either: what crds/ has brought does not belong to the release (4.3.1,
// pkg/action/install.go, RunWithContext).
func (b *builder) checkTemplates(o manifest.Object) {
	if at, twice := b.targets[o.ID]; twice {
		b.block(ProblemInvalid, o.ID, fmt.Sprintf("the chart has it twice: in %s and in %s", o.Source, b.in.Target.Objects[at].Source), "remove one of the two, or add --skip-crds")
	}
}

// updateCRD turns the step into an update of a live CRD to the one in crds/. CRDs are not recorded,
// so the whole live spec, but for what the API server has filled in, is treated as what was sent before. ok
// is false if nothing would change.
func (b *builder) updateCRD(step *Step, live *unstructured.Unstructured) (ok bool) {
	step.Op, step.Why, step.Before = OpPatch, "it differs from crds/, and --update-crds is given", live
	step.Expect = Expect{UID: live.GetUID(), ResourceVersion: live.GetResourceVersion()}
	sent := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": step.Body.GetAPIVersion(), "kind": step.Body.GetKind(), "metadata": map[string]any{"name": live.GetName()},
		"spec": crdschema.WithoutDefaults(live.Object["spec"]),
	}}
	p, err := patch.ThreeWay(sent, live, step.Body)
	if err != nil {
		b.block(ProblemInvalid, step.Object, err.Error(), "")
		return true
	}
	merged, err := patch.Apply(live, p)
	switch {
	case err != nil:
	case b.in.Options.ServerSide:
		step.PatchType = types.ApplyPatchType
		managers := []string{FieldManager, b.in.Options.FieldManager}
		if managedfields.LastApplied(live) != nil {
			managers = append(managers, kubectlsManager)
		}
		step.MigrateOwnership = managedfields.ClientSideManagers(live, b.live(step.Object).Managers, managers...)
	default:
		step.PatchType, step.Patch = p.Type, p.Data
		err = withUID(step, p, live)
	}
	if err != nil {
		b.block(ProblemInvalid, step.Object, err.Error(), "")
		return true
	}
	if len(step.MigrateOwnership) > 0 { // merged treats the whole spec as ours, but others may own a part
		b.estimated(step, merged, "ownership first migrates from client-side to server-side apply")
	} else {
		b.predict(step, merged)
	}
	b.checkVersions(step)
	for i := range step.Changes {
		step.Changes[i].Cause = CauseChart
	}
	toBeAsked := b.in.Predictions == nil && b.in.Against == nil && !b.in.ReadOnly
	return toBeAsked || len(step.Changes) > 0 || step.Estimate != "" && step.Estimate != NotAsked
}

// DeletedCRDs returns the steps that delete a CRD, and with it every object of its kind. Those that
// create it again are among them.
func (p *Document) DeletedCRDs() []Step {
	var found []Step
	p.Steps(func(_ StageName, s *Step) {
		if (s.Op == OpDelete || s.Op == OpRecreate) && s.Object.IsCRD() {
			found = append(found, *s)
		}
	})
	return found
}

// checkCustomResources blocks the deletion of a CRD that has custom resources from outside this
// release, or may have some. An uninstall only gets a warning, since there the deletion was asked for.
func (b *builder) checkCustomResources(id manifest.ID) {
	found := b.in.CustomResources[id]
	const keep = "annotate it with helm.sh/resource-policy: keep"
	what, do := "deleting it also deletes its custom resources, ", "keep it in the chart, "+keep+", or delete them first"
	switch {
	case found.Uncounted != "":
		what, do = what+uncounted(found), "see to it that they can be listed, or "+keep
	case found.Others > 0:
		what += fmt.Sprintf("%d of which do not belong to this release", found.Others)
	default:
		return
	}
	if b.in.Operation == Uninstall {
		b.warn(id, what, "keep it with the annotation helm.sh/resource-policy: keep")
		return
	}
	b.block(ProblemConflict, id, what, do)
}

// checkRecreatedCRD blocks deleting and creating a CRD that has custom resources, whoever they belong
// to: nothing creates them again.
func (b *builder) checkRecreatedCRD(id manifest.ID) {
	found := b.in.CustomResources[id]
	what, do := "deleting and creating it also deletes its custom resources, ", "keep the field as it is, or delete them first"
	switch n := found.Own + found.Others; {
	case found.Uncounted != "":
		what, do = what+uncounted(found), "see to it that they can be listed, or keep the field as it is"
	case n == 0:
		return
	case n == 1:
		what += "of which there is 1"
	default:
		what += fmt.Sprintf("of which there are %d", n)
	}
	b.block(ProblemConflict, id, what, do)
}

func uncounted(c CustomResources) string { return "which could not be counted: " + c.Uncounted }

// checkCustomResource warns about a custom resource that the chart's own CRD does not allow, where the
// API server can't be asked: its version or schema comes with this plan, or the plan compares with something
// else than live objects. It is no more than a warning, since a webhook may complete the object.
func (b *builder) checkCustomResource(s *Step) {
	_, version, _ := strings.Cut(s.APIVersion, "/")
	d, ok := b.definition(s)
	asked := b.in.Against == nil && !b.redefines(s) && slices.Contains(b.in.Kinds[s.Object.GroupKind()].Versions, version)
	if !ok || asked || b.in.Estimated != nil && b.in.Estimated(s.Body.Object) {
		return
	}
	if why := crdschema.Refusal(d.CRD.Doc, s.Body, b.in.Options.ServerSide); why != "" {
		b.warn(s.Object, fmt.Sprintf("%s, which comes with this chart, does not allow it: %s", d.CRD.Name, why), "correct the chart or the values, unless a webhook completes it")
	}
}

// checkVersions warns about versions that a CRD will no longer serve. The API server itself refuses
// to remove a version in which objects are stored.
func (b *builder) checkVersions(s *Step) {
	before, _ := kinds.Define(s.Before)
	after, ok := kinds.Define(s.After)
	if !ok || b.in.Predictions == nil {
		return
	}
	for _, v := range before.Served {
		if !slices.Contains(after.Served, v) {
			b.warn(s.Object, fmt.Sprintf("it will no longer serve %s: clients that read or write its custom resources in that version will fail", v), "make sure that there are none, or keep serving the version")
		}
	}
}
