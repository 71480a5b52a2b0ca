package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/kubectl-release/kubectl-release/plan"
)

// EffectDigest returns "sha256:" and the SHA-256, in hex, of the plan's EffectList, by which an
// effect is approved: a plan with the same intent that is made later has the same digest. Without a
// key it covers that secrets change, but not their values, since somebody who knows everything else
// could test guesses; with a key, of any length, it covers the values as an HMAC. It is "" for a
// plan that can't be listed.
func EffectDigest(p *plan.Plan, key []byte) string { return NewMask(p).EffectDigest(p, key) }

// EffectDigest is the function EffectDigest with a mask that was made from p.
func (m *Mask) EffectDigest(p *plan.Plan, key []byte) string {
	spelled := *m
	spelled.spell = func(secret string) string {
		if len(key) == 0 {
			return "(sensitive)"
		}
		h := hmac.New(sha256.New, key)
		h.Write([]byte(secret))
		return "(sensitive " + hex.EncodeToString(h.Sum(nil)) + ")"
	}
	list, err := spelled.Plan(withoutUnchanged(p)).EffectList()
	if err != nil {
		return ""
	}
	return plan.Digest(list)
}

// withoutUnchanged returns the plan without the steps that do nothing: they are most of many plans,
// and have no effect.
func withoutUnchanged(p *plan.Plan) *plan.Plan {
	var steps []plan.Step
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op != plan.OpNone {
			steps = append(steps, *s)
		}
	})
	out := *p
	out.Stages = []plan.Stage{{Waves: []plan.Wave{{Steps: steps}}}}
	return &out
}
