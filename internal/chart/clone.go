package chart

import "slices"

// Clone copies the tree so that the copy's metadata, values and subcharts can be replaced without
// changing c. Files and the content of Values are shared: they are never written to. The copy has
// no parent.
func (c *Chart) Clone() *Chart {
	out := *c
	out.parent = nil
	out.Metadata = c.Metadata.Clone()
	out.dependencies = nil
	for _, sub := range c.dependencies {
		out.AddDependency(sub.Clone())
	}
	return &out
}

// Clone returns a copy of the metadata with its own dependencies; nil for nil.
func (m *Metadata) Clone() *Metadata {
	if m == nil {
		return nil
	}
	out := *m
	out.Dependencies = slices.Clone(m.Dependencies)
	for i, d := range out.Dependencies {
		if d != nil {
			dep := *d
			out.Dependencies[i] = &dep
		}
	}
	return &out
}
