package report

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Only releases that do the same share a row, of which nothing but the first is shown.
func TestRowsShareWhatIsTheSame(t *testing.T) {
	row := func(namespace, image, token, gone string) setRow {
		key := release.Key{Namespace: namespace, Name: "web"}
		doc := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": namespace}, "spec": map[string]any{"image": image, "password": "(sensitive " + token + "…)"},
		}}
		p := &plan.Document{Operation: plan.Upgrade, Release: key, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
			{ID: "a", Op: plan.OpCreate, Object: manifest.ID{Kind: "Deployment", Namespace: namespace, Name: "web"}, Body: doc},
			{ID: "b", Op: plan.OpDelete, Object: manifest.ID{Kind: "ConfigMap", Namespace: namespace, Name: "web-" + gone}},
		}}}}}}
		return newSetRow(&releaseset.Planned{Release: key, Plan: p})
	}
	first := row("a1", "shop/web:1", "0123", "settings")
	for why, c := range map[string]struct {
		other setRow
		rows  int
	}{
		"another namespace and secret": {row("b2", "shop/web:1", "4567", "settings"), 1},
		"another object is created":    {row("b2", "evil/web:1", "0123", "settings"), 2},
		"another object is deleted":    {row("b2", "shop/web:1", "0123", "data"), 2},
	} {
		if got := grouped([]setRow{first, c.other}); len(got) != c.rows {
			t.Errorf("%s: %d rows, want %d", why, len(got), c.rows)
		}
	}
}

// Releases of which the same is said without a plan share a row; the same error in another chart is another one.
func TestRowsShareTheSameError(t *testing.T) {
	row := func(name, chart, err string) setRow {
		return newSetRow(&releaseset.Planned{Release: release.Key{Namespace: "shop", Name: name}, Chart: releaseset.Chart{Path: chart}, Error: err, Left: err == ""})
	}
	got := grouped([]setRow{row("a", "web", "no such function"), row("b", "web", "no such function"), row("c", "db", "no such function"), row("d", "web", "parse d.yaml"), row("e", "web", ""), row("f", "web", "")})
	if len(got) != 4 || len(got[0].like) != 1 || len(got[3].like) != 1 {
		t.Errorf("%d rows: %v", len(got), got)
	}
}

// A pipe would end a table's cell even in code; the names of contexts may have one.
func TestPipesInNamesStayInTheirCell(t *testing.T) {
	key := release.Key{Namespace: "shop", Name: "web"}
	row := newSetRow(&releaseset.Planned{Release: key, Cluster: "eu|prod", Error: "no", Chart: releaseset.Chart{Path: "chart"}})
	row.like = []setRow{newSetRow(&releaseset.Planned{Release: key, Cluster: "us|prod", Error: "no"})}
	line := row.markdown(5, 3)
	if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1; cells != 5 || !strings.Contains(line, `shop/web@eu\|prod`) || !strings.Contains(line, `us\|prod`) {
		t.Errorf("%d cells: %s", cells, line)
	}
}
