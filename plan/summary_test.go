package plan

import (
	"encoding/json"
	"strings"
	"testing"
)

// Changes of labels alone are also counted separately, as the text shows them.
func TestLabelsAloneAreCountedApart(t *testing.T) {
	p := Document{Stages: []Stage{{Name: StageResources, Waves: []Wave{{Steps: []Step{
		{ID: "a", Op: OpPatch, Changes: []Change{{Path: "metadata.labels[helm.sh/chart]", From: "web-1", To: "web-2"}}},
		{ID: "b", Op: OpPatch, Changes: []Change{{Path: "metadata.labels[helm.sh/chart]", From: "web-1", To: "web-2"}, {Path: "data.a", From: "1", To: "2"}}},
	}}}}}}
	p.recount()
	printed, err := json.Marshal(p.Summary)
	if text := string(printed); err != nil || !strings.Contains(text, `"patch":2,"labelsOnly":1,`) {
		t.Errorf("two changes, one of them of labels alone, are %s (%v)", text, err)
	}
}
