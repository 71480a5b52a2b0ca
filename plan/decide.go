package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// wantedStep decides what happens to an object of the target.
func (b *builder) wantedStep(o manifest.Object) Step {
	step := Step{
		ID:         stepID(StageResources, o.ID),
		Object:     o.ID,
		APIVersion: apiVersion(o.Group, o.Version),
		Source:     o.Source,
		Fidelity:   FidelityExact,
	}
	if b.checkServed(&step, o) {
		return step
	}
	stored, known := b.storedObject(o.ID)
	live := b.live(o.ID)
	switch {
	case live.Unreadable != "":
		step.Op, step.Fidelity, step.Why = OpPatch, FidelityUnknown, "its live state could not be read"
		if b.in.Kinds[o.GroupKind()].Unavailable != "" {
			break // checkServed has reported it
		}
		b.unread(&step, "the live object can't be read: ", live.Unreadable, "ask for permission to get it, or retry when the API is back", "get")
	case b.isLate(o.ID):
		b.createLate(&step, o)
	case b.isBehindHook(o.ID):
		b.createBehindHook(&step, o)
	case live.Object == nil:
		b.create(&step, o, b.left(stored))
	case live.Object.GetDeletionTimestamp() != nil:
		step.Op, step.Fidelity, step.Why = OpCreate, FidelityUnknown, "the live object is being deleted"
		b.blockTerminating(o.ID, live.Object)
	case !known:
		b.adopt(&step, o, live.Object)
	default:
		b.change(&step, o, stored, live.Object)
	}
	return step
}

// left reports whether the release's last run surely left the object in the cluster: its revision is deployed and has
// it. A run that failed may have ended before it created the object, or after it deleted it.
func (b *builder) left(stored StoredObject) bool {
	last := b.in.History.Last()
	return last != nil && last.Info.Status == release.StatusDeployed && slices.Contains(stored.Revisions, last.Version)
}

// create turns the step into the creation of an object; lost says that the release had left it in the cluster.
func (b *builder) create(step *Step, o manifest.Object, lost bool) {
	step.Op = OpCreate
	step.Body = b.sent(o.Doc)
	step.Expect = Expect{Absent: true}
	step.Why = "the chart has it and the cluster does not"
	if lost {
		step.Why = "it was deleted outside of this release"
	}
	if b.in.Options.ServerSide {
		step.PatchType = types.ApplyPatchType
	}
	b.predict(step, step.Body)
	b.checkCustomResource(step)
}

// adopt plans the change of a live object that no stored revision sent, and blocks if it belongs to
// something else.
func (b *builder) adopt(step *Step, o manifest.Object, live *unstructured.Unstructured) {
	why, stored := "", StoredObject{ID: o.ID}
	hook, wasHook := b.wasHook(o.ID)
	switch owner := foreign(live, b.in.Release); {
	case owner == "":
		why = "it carries this release's ownership, though no stored revision sent it"
	case wasHook:
		why, stored.Docs = "it was a hook of this release until now", []manifest.Object{hook}
	case b.in.Options.TakeOwnership:
		why = "it is taken over: " + owner
	default:
		why = "it would have to be taken over: " + owner
		b.block(ProblemConflict, o.ID, "it is already in the cluster and "+owner, "rename it in the chart, remove it, or take it over with --take-ownership")
	}
	b.change(step, o, stored, live)
	for i := range step.Changes {
		if c := &step.Changes[i]; c.Cause == CauseDrift || c.Cause == CauseServer {
			c.Cause, c.Detail, c.Manager, c.At = CauseAdopted, "", "", time.Time{}
		}
	}
	if step.Op == OpPatch {
		step.Op, step.Why = OpAdopt, why
		return
	}
	step.Why = why + "; " + step.Why
}

// change compares the stored, live and wanted documents of an object that exists and stays.
func (b *builder) change(step *Step, o manifest.Object, stored StoredObject, live *unstructured.Unstructured) {
	step.Before = live
	step.Expect = Expect{UID: live.GetUID(), ResourceVersion: live.GetResourceVersion()}
	step.MigrateOwnership = b.migrateOwnership(o.ID, stored, live)
	// If only stringData is owned client-side, ownership migrates once the chart drops some of it.
	ours := len(managedfields.ClientSideManagers(nil, b.live(o.ID).Managers, step.MigrateOwnership...)) == 0
	if ours && b.agree(o, stored, live) {
		step.Op, step.Why, step.MigrateOwnership = OpNone, "stored, live and wanted agree", nil
		return
	}
	step.Op, step.Why = OpPatch, "it differs from what the chart says"
	step.Body = b.sent(o.Doc)
	if other := otherRelease(live, b.in.Release); other != "" && len(stored.Docs) > 0 {
		b.warn(o.ID, fmt.Sprintf("it is taken back from release %s, which took it over in the meantime", other), "keep it in only one of the two releases")
	}
	if b.in.Options.ServerSide {
		step.Clears, step.Empties, step.Unserved = b.clears(step, stored, live), b.empties(step, stored, live), b.unservedVersions(step)
	}
	estimate, err := b.merge(step, stored, live)
	if err != nil {
		step.Fidelity = FidelityUnknown
		b.block(ProblemInvalid, o.ID, err.Error(), "")
		return
	}
	b.warnDuplicates(o)
	b.overwrite(step)
	b.predict(step, estimate)
	b.attribute(step, o, stored)
	b.warnStaying(step, o, stored)
	b.checkVersions(step)
	if step.Op == OpPatch && len(step.Changes) == 0 && ours && step.After != nil && len(stored.Docs) > 0 {
		*step = Step{
			ID: step.ID, Op: OpNone, Object: step.Object, APIVersion: step.APIVersion, Source: step.Source,
			Before: live, Fidelity: step.Fidelity, Expect: step.Expect, Why: "the API server would change nothing",
		}
		return
	}
	b.checkCustomResource(step)
}

// agree reports whether nothing has to be sent: stored, live and wanted documents are the same.
func (b *builder) agree(o manifest.Object, stored StoredObject, live *unstructured.Unstructured) bool {
	if len(stored.Docs) == 0 || foreign(live, b.in.Release) != "" {
		return false
	}
	return !slices.ContainsFunc(stored.Docs, func(s manifest.Object) bool {
		return !patch.InSync(b.asSent(s.Doc, o.Doc), live, o.Doc)
	})
}

// kubectlsManager is the field manager of client-side kubectl apply.
const kubectlsManager = "kubectl-client-side-apply"

// merge computes the step's patch and its estimated outcome. A server-side apply whose outcome
// comes from a dry run needs neither.
func (b *builder) merge(step *Step, stored StoredObject, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if b.in.Options.ServerSide {
		step.PatchType = types.ApplyPatchType
		toBeAsked := b.in.Predictions == nil && b.in.Against == nil && !step.TakesOver() && b.notYet(step) == ""
		if toBeAsked || b.in.Predictions[step.ID].After != nil {
			return nil, nil // the server's answer counts, and an apply needs no patch
		}
		return b.applied(step, stored, live)
	}
	merged, _, p, err := b.threeWay(step, stored, live)
	if err != nil {
		return nil, err
	}
	step.Patch, step.PatchType = p.Data, p.Type
	return merged, withUID(step, p, live)
}

// applied estimates the outcome of a server-side apply that first migrates ownership of client-side
// fields.
func (b *builder) applied(step *Step, stored StoredObject, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	merged, base, _, err := b.threeWay(step, stored, live)
	if err != nil {
		return nil, err
	}
	entries, err := managedfields.AsApplied(b.live(step.Object).Managers, b.fieldManager(), step.APIVersion, step.Clears)
	if err != nil {
		return nil, err
	}
	merged = managedfields.Keep(merged, base, b.others(step, entries))
	return patch.InApplyOrder(merged, base, step.Body), nil
}

// threeWay merges the step's body into the live object. Each stored document may contain fields
// that later ones dropped, so they are merged one after another; the patch is the difference
// between the first state and the last.
func (b *builder) threeWay(step *Step, stored StoredObject, live *unstructured.Unstructured) (merged, base *unstructured.Unstructured, p patch.Patch, err error) {
	docs := make([]*unstructured.Unstructured, 0, len(stored.Docs)+2)
	if slices.Contains(step.MigrateOwnership, kubectlsManager) {
		docs = append(docs, managedfields.LastApplied(live))
	}
	for _, d := range stored.Docs {
		docs = append(docs, owned(d.Doc, b.in.Release))
	}
	if len(docs) == 0 {
		docs = append(docs, nil)
	}
	base = inVersion(live, step.Body.GetAPIVersion())
	merged = base
	for _, d := range docs {
		if p, err = patch.ThreeWay(d, merged, step.Body); err != nil {
			return nil, nil, patch.Patch{}, err
		}
		if merged, err = patch.Apply(merged, p); err != nil {
			return nil, nil, patch.Patch{}, err
		}
	}
	if len(docs) > 1 {
		p, err = patch.ThreeWay(base, base, merged)
	}
	return merged, base, p, err
}

// migrateOwnership returns the managers whose client-side fields a server-side apply takes over:
// the release's own and, with --take-ownership, that of kubectl apply if the last-applied
// annotation says what it sent. Ownership of unchanged objects migrates, too: the record will say
// that the release is applied server-side, and the next operation relies on that.
func (b *builder) migrateOwnership(id manifest.ID, stored StoredObject, live *unstructured.Unstructured) []string {
	if !b.in.Options.ServerSide {
		return nil
	}
	var managers []string
	if len(stored.Docs) > 0 || foreign(live, b.in.Release) == "" {
		managers = append(managers, FieldManager, b.in.Options.FieldManager)
	}
	if b.in.Options.TakeOwnership && managedfields.LastApplied(live) != nil {
		managers = append(managers, kubectlsManager)
	}
	return managedfields.ClientSideManagers(live, b.live(id).Managers, managers...)
}

// clears returns the live fields that contradict the wanted document and that a server-side apply
// would leave in place. Fields that the release itself applied are removed by the apply; fields of
// other managers stay, and the API server then refuses the apply.
func (b *builder) clears(step *Step, stored StoredObject, live *unstructured.Unstructured) []string {
	var sent *unstructured.Unstructured
	if len(stored.Docs) > 0 {
		sent = stored.Latest().Doc
	}
	return slices.DeleteFunc(patch.Rivals(sent, live, step.Body), func(path string) bool {
		return slices.ContainsFunc(b.live(step.Object).Managers, func(entry metav1.ManagedFieldsEntry) bool {
			return !managedfields.IsKubectlUpdate(entry) && managedfields.Owns(entry, path)
		})
	})
}

// empties returns the live maps and lists that the chart has emptied, except those to which others
// have added something.
func (b *builder) empties(step *Step, stored StoredObject, live *unstructured.Unstructured) []string {
	if len(patch.Emptied(live, step.Body, step.Body)) == 0 {
		return nil
	}
	merged, err := b.applied(step, stored, live)
	if err != nil {
		return nil // the step's own merge reports it
	}
	return patch.Emptied(live, merged, step.Body)
}

// withUID adds the UID to the patch, so the API server refuses it if the object was deleted and
// created again under the same name since the plan was made.
func withUID(step *Step, p patch.Patch, live *unstructured.Unstructured) error {
	if live.GetUID() == "" {
		return nil
	}
	body := map[string]any{}
	if !p.Empty() {
		if err := json.Unmarshal(p.Data, &body); err != nil {
			return fmt.Errorf("read back the patch of %s: %w", step.Object, err)
		}
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["uid"] = string(live.GetUID())
	body["metadata"] = metadata
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the patch of %s: %w", step.Object, err)
	}
	step.Patch = data
	return nil
}
