package plan

// Effect classifies what applying a plan would change.
type Effect int

const (
	// EffectNone means that the release is as it should be; hooks may still run.
	EffectNone Effect = iota
	// EffectRecord means that no object changes but the record does (values, chart, status).
	EffectRecord
	// EffectObjects means that objects change.
	EffectObjects
)

// Effect returns whether the plan changes objects, only the record, or nothing.
// A plan that recovers from a failed or interrupted run changes at least the
// record.
func (p *Document) Effect() Effect {
	switch {
	case p.Summary.ObjectChanges() > 0 || p.Operation == Uninstall || p.Operation == Test:
		return EffectObjects
	case p.Against != nil && len(p.Values) == 0 && (p.ChartFrom.Name == "" || !p.otherChart()):
		return EffectNone
	case p.Operation == Install, p.Operation == Rollback, p.Operation == CorrectRecords: // these always write a record
		return EffectRecord
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

// OtherFiles reports whether the chart's templates or defaults may have
// changed: the name or version differs, or the digest if both are known.
func (p *Document) OtherFiles() bool {
	from, to := p.ChartFrom, p.ChartTo
	return from.Name != to.Name || from.Version != to.Version ||
		from.Digest != to.Digest && from.Digest != "" && to.Digest != ""
}
