package plan

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

const crdKind = "CustomResourceDefinition.apiextensions.k8s.io"

// DeletedCRDs are the steps that delete a CRD, and with it every object of its kind.
func (p *Plan) DeletedCRDs() []Step {
	var found []Step
	p.Steps(func(_ StageName, s *Step) {
		if s.Op == OpDelete && isKind(s.Object, crdKind) {
			found = append(found, *s)
		}
	})
	return found
}

// checkCustomResources keeps a CRD from taking along what others have made. Whoever
// uninstalls has asked for that, and is told.
func (b *builder) checkCustomResources(id manifest.ID) {
	n := b.in.CustomResources[id]
	if n == 0 {
		return
	}
	what := fmt.Sprintf("deleting it deletes its custom resources, too, %d of which are not this release's", n)
	if b.in.Operation == Uninstall {
		b.warn(id, what, "keep it with the annotation helm.sh/resource-policy: keep")
		return
	}
	b.block(id, what, "keep it in the chart, annotate it with helm.sh/resource-policy: keep, or delete them first")
}
