package chart

// Fields returns the metadata as templates see it in .Chart: by the names of Go fields, with lists
// that are never nil and nested structs as maps. Helm 4.3.1 passes such a map to templates, too
// (pkg/chart/interfaces.go, MetadataAsMap), so .Chart.NoSuchField is empty and not an error.
func (m *Metadata) Fields() map[string]any {
	if m == nil {
		return nil
	}
	return map[string]any{
		"Name":         m.Name,
		"Home":         m.Home,
		"Sources":      list(m.Sources),
		"Version":      m.Version,
		"Description":  m.Description,
		"Keywords":     list(m.Keywords),
		"Maintainers":  maintainers(m.Maintainers),
		"Icon":         m.Icon,
		"APIVersion":   m.APIVersion,
		"Condition":    m.Condition,
		"Tags":         m.Tags,
		"AppVersion":   m.AppVersion,
		"Deprecated":   m.Deprecated,
		"Annotations":  m.Annotations,
		"KubeVersion":  m.KubeVersion,
		"Dependencies": dependencies(m.Dependencies),
		"Type":         m.Type,
	}
}

func maintainers(people []*Maintainer) []any {
	out := make([]any, 0, len(people))
	for _, p := range people {
		out = append(out, map[string]any{"Name": p.Name, "Email": p.Email, "URL": p.URL})
	}
	return out
}

func dependencies(deps []*Dependency) []any {
	out := make([]any, 0, len(deps))
	for _, d := range deps {
		out = append(out, map[string]any{
			"Name":         d.Name,
			"Version":      d.Version,
			"Repository":   d.Repository,
			"Condition":    d.Condition,
			"Tags":         list(d.Tags),
			"Enabled":      d.Enabled,
			"ImportValues": list(d.ImportValues),
			"Alias":        d.Alias,
		})
	}
	return out
}

func list[T any](in []T) []any {
	out := make([]any, 0, len(in))
	for _, v := range in {
		out = append(out, v)
	}
	return out
}
