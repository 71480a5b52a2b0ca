package reconcile

import (
	"context"
	"encoding/base64"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// compose merges the values.
func (p *pass) compose(ctx context.Context) bool {
	read := map[string]*unstructured.Unstructured{}
	var failed error
	composed, err := composition.Compose(p.hr, func(ref flux.ValuesReference) ([]byte, composition.Found) {
		of := ref.Kind + "/" + ref.Name
		object, known := read[of]
		if !known {
			found, err := p.r.Local.Lookup(ctx, "v1", ref.Kind, p.hr.Metadata.Namespace, ref.Name)
			if err != nil && !apierrors.IsNotFound(err) {
				failed = err
			}
			if err == nil {
				object = found
			}
			read[of] = object
		}
		data, ok := p.data(object, ref.Key())
		if !ok {
			return nil, composition.Missing
		}
		return data, composition.Known
	})
	if failed != nil {
		err = failed
	}
	if err == nil {
		p.values = composed.Values
		p.input.ValuesDigest, err = digest.Values(composed.Values)
	}
	p.input.Obstacles.Values = err
	return err == nil
}

// data returns the content of a key of a ConfigMap or Secret, which may be nil. A
// Secret's is remembered for masking.
func (p *pass) data(object *unstructured.Unstructured, key string) ([]byte, bool) {
	if object == nil {
		return nil, false
	}
	text, ok, err := unstructured.NestedString(object.Object, "data", key)
	if err != nil || !ok {
		return nil, false
	}
	if object.GetKind() != kinds.Secret.Kind {
		return []byte(text), true
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	p.secrets = append(p.secrets, composition.SecretTexts(data)...)
	return data, true
}
