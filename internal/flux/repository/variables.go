package repository

// variables looks up what a Kustomization substitutes.
type variables struct {
	in        *Repository
	namespace string
	// unknown are the objects whose content what was found depends on and is not known.
	unknown []string
}

// lookup is a substitution.Lookup. An object that the repository does not have may be in the
// cluster.
func (v *variables) lookup(kind, name string) (texts map[string]string, found, known bool) {
	texts, how := v.in.data(kind, v.namespace, name)
	if how != there {
		return nil, false, false
	}
	for _, text := range texts {
		if encrypted(text) {
			return nil, true, false
		}
	}
	p, _ := v.in.find("", kind, v.namespace, name)
	v.unknown = append(v.unknown, p.unknown...)
	return texts, true, true
}
