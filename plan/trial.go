package plan

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// trialNamespace is where dry runs try objects whose own namespace comes with the plan. The API server creates
// it in every cluster (Kubernetes 1.36, pkg/controlplane/controller/systemnamespaces).
const trialNamespace = metav1.NamespaceDefault

// NoVersion is a resourceVersion that no object has: etcd's revision is 1 while it is still empty
// (etcd, server/storage/mvcc/kvstore.go, NewStore). A server-side apply with it only creates.
const NoVersion = "1"

// ofEvent is the only field that has to name the namespace that an object is created in (Kubernetes 1.36,
// pkg/apis/core/validation/events.go, legacyValidateEvent).
const ofEvent = "involvedObject.namespace"

// trialID is the ID under which a trial of the step is asked about.
func trialID(id string) string { return id + "/trial" }

// trial returns a step whose dry run creates the object in another namespace, as its own comes with this plan;
// possible is false if that would tell nothing. Of the answer only a refusal for what the object says counts,
// see tried: quotas, permissions, defaults and webhooks are the other namespace's. Those of a LimitRange can
// make a Pod invalid, so Pods are not tried.
func (b *builder) trial(s *Step) (trial Step, possible bool) {
	id := s.Object
	switch {
	case s.Op != OpCreate && (s.Op != OpRun || s.InPlace()), s.Body == nil, id.Namespace == "", id.GroupKind() == kinds.Pod:
		return Step{}, false
	case b.in.Undoing, b.in.Options.AsHelm, b.in.Against != nil: // a refusal would prevent nothing
		return Step{}, false
	case b.namespaceGoes(id.Namespace), !b.bringsNamespace(id.Namespace), b.kindNotYet(s) != "", !b.served(s):
		return Step{}, false
	}
	trial = *s
	trial.ID, trial.Op, trial.Object.Namespace = trialID(s.ID), OpCreate, trialNamespace
	trial.Body = manifest.Sharing(s.Body)
	trial.Body.SetNamespace(trialNamespace)
	if s.PatchType == types.ApplyPatchType { // it must not be merged into an object that has the name there
		trial.Body.SetResourceVersion(NoVersion)
	}
	return trial, true
}

// tried returns why the API server has refused a trial of the step; nil if it has not, or not for what the
// object says.
func (b *builder) tried(s *Step) *Refusal {
	r := b.in.Predictions[trialID(s.ID)].Refused
	if r == nil || !r.ofContent() || slices.Contains(r.Fields, ofEvent) {
		return nil
	}
	own := *r
	own.Message = strings.ReplaceAll(r.Message, trialNamespace+"/"+s.Object.Name, s.Object.Namespace+"/"+s.Object.Name)
	return &own
}
