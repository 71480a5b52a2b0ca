package plan

// Effect classifies what applying a plan would change.
type Effect int

const (
	// EffectNone: the release is what it should be; hooks may still run.
	EffectNone Effect = iota
	// EffectRecord: no object changes, the record does (values, chart, status).
	EffectRecord
	// EffectObjects: objects change.
	EffectObjects
)

// Effect returns whether the plan changes objects, only the record, or nothing.
// A plan that recovers from a failed or interrupted run changes the record.
func (p *Document) Effect() Effect {
	switch {
	case p.Summary.ObjectChanges() > 0 || p.Operation == Uninstall || p.Operation == Test:
		return EffectObjects
	case p.Against != nil && len(p.Values) == 0 && (p.ChartFrom.Name == "" || !p.otherChart()):
		return EffectNone
	case p.FromRevision == 0 || p.Found != "" || len(p.Values) > 0 || p.otherChart():
		return EffectRecord
	default:
		return EffectNone
	}
}

func (p *Document) otherChart() bool {
	from, to := p.ChartFrom, p.ChartTo
	if from.Digest == "" || to.Digest == "" {
		from.Digest, to.Digest = "", ""
	}
	return from != to
}

// otherFiles reports whether it is known that templates or defaults may differ:
// by name and version, and by digest where both are known.
func (p *Document) otherFiles() bool {
	from, to := p.ChartFrom, p.ChartTo
	return from.Name != to.Name || from.Version != to.Version ||
		from.Digest != to.Digest && from.Digest != "" && to.Digest != ""
}
