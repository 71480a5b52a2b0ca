// Package patch computes what has to be sent to turn a live object into the one that a chart wants:
// the three-way merge and its local prediction. Only this package knows strategic merge.
//
// It does not talk to a cluster, does not decide whether a patch is sent, and knows nothing of
// releases or charts.
package patch

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Patch is the body of a PATCH request and its content type.
type Patch struct {
	Type types.PatchType `json:"type"`
	Data []byte          `json:"data"`
}

// Empty reports whether there is nothing to send.
func (p Patch) Empty() bool { return len(p.Data) == 0 || string(p.Data) == "{}" }

// ThreeWay computes the patch that makes live what target says.
//
// stored is what the last revisions sent; what it has and target lacks is removed. If it is nil
// (the object is adopted), nothing is removed. Fields of live that neither mentions stay, unless
// target drops the whole map around them: then they go with it, as with Helm 3.22.0 and 4.3.1. A
// field of target is set, whoever changed it. Differences that the API server does not see (equal
// quantities, null or empty instead of absent, 1 instead of 1.0) cause no patch.
//
// Kinds of k8s.io/api get a strategic merge patch, all others a JSON merge patch. live should be
// read in target's apiVersion. The documents are not changed. Errors: a document that is not JSON,
// a target without a kind.
func ThreeWay(stored, live, target *unstructured.Unstructured) (Patch, error) {
	if live == nil || target == nil {
		return Patch{}, fmt.Errorf("merge %s: the live or the wanted object is missing", describe(target, live))
	}
	m := newMerge(stored, live, target)
	p, err := m.patch()
	if err != nil {
		return Patch{}, fmt.Errorf("merge %s: %w", describe(target, live), err)
	}
	return p, nil
}

// Apply predicts what live becomes when the API server merges the patch into
// it, before defaulting, admission and validation. live is not changed; what the
// patch does not touch is shared with it. Errors: a patch that does not fit the
// object, an unknown patch type.
func Apply(live *unstructured.Unstructured, p Patch) (*unstructured.Unstructured, error) {
	if p.Empty() {
		return &unstructured.Unstructured{Object: shallowCopy(live.Object, nil)}, nil
	}
	var body map[string]any
	if err := jsontree.Unmarshal(p.Data, &body); err != nil {
		return nil, fmt.Errorf("apply a patch to %s: read the patch: %w", describe(live), err)
	}
	out, err := applyBody(live.GroupVersionKind(), shallowCopy(live.Object, body), p.Type, body)
	if err != nil {
		return nil, fmt.Errorf("apply a patch to %s: %w", describe(live), err)
	}
	return &unstructured.Unstructured{Object: out}, nil
}

// shallowCopy returns a document with copies of the top-level fields that the patch has. The others
// are shared.
func shallowCopy(doc, patch map[string]any) map[string]any {
	out := make(map[string]any, len(doc))
	for k, v := range doc {
		if _, ok := patch[k]; ok {
			out[k] = jsontree.Copy(v)
		} else {
			out[k] = jsontree.Canonical(v)
		}
	}
	return out
}

func encode(kind types.PatchType, body map[string]any) (Patch, error) {
	if len(body) == 0 {
		return Patch{Type: kind}, nil
	}
	data, err := json.Marshal(body)
	if err != nil {
		return Patch{}, fmt.Errorf("write the patch: %w", err)
	}
	return Patch{Type: kind, Data: data}, nil
}

func describe(objects ...*unstructured.Unstructured) string {
	for _, o := range objects {
		if o != nil {
			return o.GetKind() + "/" + o.GetName()
		}
	}
	return "an object"
}
