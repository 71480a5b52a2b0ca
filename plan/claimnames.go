package plan

import (
	"slices"
	"strconv"
	"strings"
)

// namedClaims returns the step's volume changes with the names of the PersistentVolumeClaims that
// exist, as far as they are known: claims of deleted pods may still exist, and those of pods that
// never started may not. If the claims were not listed, their names are derived from the number of
// pods.
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

// concerns reports whether the change affects the claim of that name.
func (c volumeEffect) concerns(name string) bool {
	return slices.Contains(c.Claims, name) || c.whole && slices.ContainsFunc(c.prefixes, func(prefix string) bool {
		ordinal, ok := strings.CutPrefix(name, prefix)
		_, err := strconv.ParseUint(ordinal, 10, 31)
		return ok && err == nil
	})
}
