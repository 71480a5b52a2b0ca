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
	if was := p.swap(p.wanted()); p.overwritten == nil {
		p.overwritten = was
	}
}

// wanted returns the digests of the spec.
func (p *pass) wanted() rendering {
	return rendering{digest.PostRenderers(p.hr.Spec.PostRenderers), digest.CommonMetadata(p.hr.Spec.CommonMetadata)}
}

// rendering makes the digests unknown while a revision with other ones is made: should the process die,
// either may be those of the release by the time that the spec changes again.
func (p *pass) rendering() {
	if was := p.swap(rendering{unknown, unknown}); *was == p.wanted() {
		p.swap(*was)
	} else {
		p.overwritten = was
	}
}

// unmade takes that back if no such revision was deployed.
func (p *pass) unmade() {
	if p.hr.Status.ObservedPostRenderersDigest == unknown && p.overwritten != nil {
		p.swap(*p.overwritten)
		p.overwritten = nil
	}
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
