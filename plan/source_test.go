package plan_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

func TestChartSourceMoved(t *testing.T) {
	source := plan.ChartSource{URL: "oci://h/web:1.0.0", Digest: "sha256:aa"}
	if text := source.Moved("sha256:aa"); text != "" {
		t.Error(text)
	}
	if text := source.Moved("sha256:bb"); text != "oci://h/web:1.0.0 was sha256:aa when the plan was made, and is sha256:bb now" {
		t.Error(text)
	}
	source.Fixed = true
	if text := source.Moved("sha256:bb"); text != "" {
		t.Errorf("a reference with a digest has moved: %s", text)
	}
}
