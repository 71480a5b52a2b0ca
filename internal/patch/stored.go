package patch

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// AsStored is a copy of a document as the API server would keep it as far as
// that is known without asking: a Secret's stringData is folded into its data.
// Defaults that the server adds are not in it.
func AsStored(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	if isSecret(out) {
		foldStringData(out.Object)
	}
	return out
}
