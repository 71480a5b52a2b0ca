package plan

import "testing"

// A change of labels alone is counted apart, as the text says it, beside all changes.
func TestLabelsAloneAreCountedApart(t *testing.T) {
	p := Document{Stages: []Stage{{Name: StageResources, Waves: []Wave{{Steps: []Step{
		{ID: "a", Op: OpPatch, Changes: []Change{{Path: "metadata.labels[helm.sh/chart]", From: "web-1", To: "web-2"}}},
		{ID: "b", Op: OpPatch, Changes: []Change{{Path: "metadata.labels[helm.sh/chart]", From: "web-1", To: "web-2"}, {Path: "data.a", From: "1", To: "2"}}},
	}}}}}}
	p.recount()
	if p.Summary.Patch != 2 || p.Summary.LabelsOnly != 1 {
		t.Errorf("%d changes, of which %d of labels alone", p.Summary.Patch, p.Summary.LabelsOnly)
	}
}
