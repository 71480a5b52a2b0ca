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

// Only what is known about the source is annotated, whatever the chart claims.
func TestChartSourceAnnotate(t *testing.T) {
	claimed := map[string]string{"a": "b", "kubectl-release/source": "https://evil", "kubectl-release/signed-by": "somebody"}
	var none *plan.ChartSource
	if out := none.Annotate(claimed); len(out) != 1 || out["a"] != "b" || len(claimed) != 3 || plan.AnnotatedSource(out) != nil {
		t.Errorf("%v, and of a chart without annotations %v", out, none.Annotate(nil))
	}
	from := plan.ChartSource{URL: "https://h/web.tgz", Repository: "https://h", Digest: "sha256:aa"}
	out := from.Annotate(claimed)
	if got := plan.AnnotatedSource(out); got == nil || *got != from || out["kubectl-release/signed-by"] != "" {
		t.Errorf("%v: %+v", out, got)
	}
	from.Signature = &plan.ChartSignature{Method: "pgp", Signer: "Anna", Key: "9C"}
	if got := from.Annotate(nil)["kubectl-release/signed-by"]; got != "Anna, pgp key 9C" {
		t.Error(got)
	}
}
