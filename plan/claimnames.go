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
		if c.prefixes == nil || b.namespaceMissing(s.Object.Namespace) {
			out = append(out, c.VolumeChange)
			continue
		}
		there, asked := b.claims(s.Object.Namespace)
		changes := []VolumeChange{c.VolumeChange}
		switch {
		case asked && c.Fate == VolumeCreated:
			changes = c.reusing(there)
		case asked:
			changes[0].Claims = slices.DeleteFunc(slices.Clone(there), func(name string) bool { return !c.concerns(name) })
		}
		for _, change := range changes {
			if len(change.Claims) > 0 {
				out = append(out, change)
			}
		}
	}
	return out
}

// claims returns the names of the claims in a namespace, and asks for them if they were not listed.
func (b *builder) claims(namespace string) (there []string, asked bool) {
	there, asked = b.in.Claims[namespace]
	if !asked && !slices.Contains(b.questions.ClaimNamespaces, namespace) {
		b.questions.ClaimNamespaces = append(b.questions.ClaimNamespaces, namespace)
	}
	return there, asked
}

// reusing divides claims that new pods need into those that are there, whose size stays, and new ones.
func (c volumeEffect) reusing(there []string) []VolumeChange {
	reused, created := c.VolumeChange, c.VolumeChange
	reused.Fate, reused.To, reused.Claims, created.Claims = VolumeReused, "", nil, nil
	existing := map[string]bool{} // there may be ten thousand of either
	for _, name := range there {
		existing[name] = true
	}
	for _, name := range c.Claims {
		if existing[name] {
			reused.Claims = append(reused.Claims, name)
		} else {
			created.Claims = append(created.Claims, name)
		}
	}
	return []VolumeChange{reused, created}
}

// concerns reports whether the change affects the claim of that name.
func (c volumeEffect) concerns(name string) bool {
	return slices.ContainsFunc(c.prefixes, func(prefix string) bool {
		text, has := strings.CutPrefix(name, prefix)
		n, ok := ordinalOf(text)
		return has && ok && (c.whole || slices.ContainsFunc(c.pods, func(o ordinals) bool { return o.include(n) }))
	})
}
