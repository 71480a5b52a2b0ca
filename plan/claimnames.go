package plan

import (
	"slices"
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
	return slices.ContainsFunc(c.prefixes, func(prefix string) bool {
		text, has := strings.CutPrefix(name, prefix)
		n, ok := ordinalOf(text)
		return has && ok && (c.whole || slices.ContainsFunc(c.pods, func(o ordinals) bool { return o.include(n) }))
	})
}
