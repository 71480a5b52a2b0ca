package reconcile

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
)

// rendering has the digests of the post-renderers and of the common metadata of a release.
type rendering struct{ postRenderers, commonMetadata string }

// unknown is a digest that no spec has.
const unknown = "unknown"

// rendered records that the release has the spec's post-renderers and common metadata. Here only what
// was deployed counts, so that a failed rendering is tried again; helm-controller 1.6.3 records them
// whatever an action ends with (internal/reconcile/release.go, summarize).
func (p *pass) rendered() {
	p.overwritten = p.swap(rendering{digest.PostRenderers(p.hr.Spec.PostRenderers), digest.CommonMetadata(p.hr.Spec.CommonMetadata)})
}

// unrendered takes that back after the rollback of a release that was deployed and whose tests have
// failed. The digests before it are unknown if another pass has deployed it.
func (p *pass) unrendered() {
	switch {
	case !p.is(released, metav1.ConditionTrue):
	case p.overwritten != nil:
		p.swap(*p.overwritten)
	default:
		p.swap(rendering{unknown, unknown})
	}
}

// swap puts digests into the status, and returns those that were there.
func (p *pass) swap(now rendering) *rendering {
	s := &p.hr.Status
	was := &rendering{s.ObservedPostRenderersDigest, s.ObservedCommonMetadataDigest}
	s.ObservedPostRenderersDigest, s.ObservedCommonMetadataDigest = now.postRenderers, now.commonMetadata
	return was
}
