package plan

import (
	"slices"
	"strconv"
	"strings"
)

// namedClaims names the claims that there are of StatefulSets, as far as that is known:
// there may be some of pods that are gone, and none of pods that never came up. Where
// nobody was asked, the names are those of the pods that there should be.
func (b *builder) namedClaims(s *Step) []VolumeChange {
	var out []VolumeChange
	for _, c := range s.volumes() {
		if c.prefixes == nil || c.Fate == VolumeCreated {
			out = append(out, c.VolumeChange)
			continue
		}
		namespace := s.Object.Namespace
		there, asked := b.in.Claims[namespace]
		if !asked && !slices.Contains(b.questions.ClaimNamespaces, namespace) {
			b.questions.ClaimNamespaces = append(b.questions.ClaimNamespaces, namespace)
		}
		if asked {
			c.Claims = slices.DeleteFunc(slices.Clone(there), func(name string) bool { return !c.concerns(name) })
		}
		if len(c.Claims) > 0 {
			out = append(out, c.VolumeChange)
		}
	}
	return out
}

// concerns reports whether the change is about the claim of that name.
func (c volumeEffect) concerns(name string) bool {
	return slices.Contains(c.Claims, name) || c.whole && slices.ContainsFunc(c.prefixes, func(prefix string) bool {
		ordinal, ok := strings.CutPrefix(name, prefix)
		_, err := strconv.ParseUint(ordinal, 10, 31)
		return ok && err == nil
	})
}
