package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/kubectl-release/kubectl-release/plan"
)

// EffectDigest is "sha256:" and the SHA-256, in hex, of the plan's EffectList, by
// which an effect is approved: the same intent that is planned again has the same
// digest. Of secrets it holds that they change, since somebody who knows all else
// could test guesses; with key, of any length, also to what, as an HMAC. "" is for a
// plan that can't be listed.
func EffectDigest(p *plan.Plan, key []byte) string {
	m := NewMask(p)
	m.spell = func(secret string) string {
		if len(key) == 0 {
			return "(sensitive)"
		}
		h := hmac.New(sha256.New, key)
		h.Write([]byte(secret))
		return "(sensitive " + hex.EncodeToString(h.Sum(nil)) + ")"
	}
	list, err := m.plan(p).EffectList()
	if err != nil {
		return ""
	}
	return plan.Digest(list)
}
