package report

import "github.com/kubectl-release/kubectl-release/plan"

// Mask masks what is printed beside a plan: errors, progress, logs and records.
// It is safe for concurrent use. The nil Mask masks nothing.
type Mask struct{ masker *masker }

// NewMask knows the secrets that Redact finds in the plan, and in others.
func NewMask(p *plan.Plan, others ...*plan.Plan) *Mask { return &Mask{maskerOf(p, others...)} }

// NewValuesMask knows the values that are named like credentials, for what is
// printed before there is a plan.
func NewValuesMask(values map[string]any) *Mask {
	found := newSecrets()
	found.addCredentials(values)
	found.exempt(nil)
	return &Mask{newMasker(found, "")}
}

// Text is the text with every secret replaced by its token.
func (m *Mask) Text(s string) string {
	if m == nil {
		return s
	}
	return m.masker.text(s)
}

// Tree is a copy of what JSON decodes to, masked like a plan's objects.
func (m *Mask) Tree(v any) any {
	if m == nil {
		return v
	}
	return m.masker.tree(v)
}
