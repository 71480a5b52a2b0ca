package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// changing returns a plan that changes the data of ConfigMaps.
func changing(changes map[string][]plan.Change, names ...string) *plan.Document {
	p := &plan.Document{Operation: plan.Upgrade}
	var steps []plan.Step
	for _, name := range names {
		steps = append(steps, plan.Step{ID: name, Op: plan.OpPatch, Object: manifest.ID{Kind: "ConfigMap", Name: name}, Changes: changes[name]})
	}
	p.Summary.Patch = len(steps)
	p.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}
	return p
}

func text(t *testing.T, p *plan.Document, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// dashboard returns one as Grafana has it, on one line.
func dashboard(version string, panels int) string {
	var all []string
	for i := range panels {
		all = append(all, fmt.Sprintf(`{"id":%d,"pluginVersion":"v%s","targets":[{"expr":"up"}]}`, i, version))
	}
	return `{"title":"d","panels":[` + strings.Join(all, ",") + `]}`
}

// A14: values that are JSON or YAML are compared inside.
func TestDocumentsInTextsAreComparedInside(t *testing.T) {
	for _, tc := range []struct{ why, from, to, want string }{
		{"a dashboard", dashboard("11.4.0", 12), dashboard("13.0.0", 12), "data[x] panels[0].pluginVersion  v11.4.0 → v13.0.0 (and 11 like it)"},
		{"what is added to YAML", "a: 1\nb: {c: 2}\n", "a: 1\nb: {c: 2, d: 3}\n", "data[x] b.d  added: 3"},
		{"large numbers", `{"a":1234567890123456788}`, `{"a":1234567890123456789}`, "data[x] a  1234567890123456788 → 1234567890123456789"},
		{"a comment in YAML is a change of the text", "a: 1\nb: 2\n", "a: 1 # one\nb: 2\n", "data[x]  text, +1 −1 lines"},
		{"a comment that changes, too", "#cloud-config\nother: 1\nb: 1\n", "#cloud-boothook\nother: 2\nb: 1\n", "+ #cloud-boothook\n"},
		{"a spelling that changes, too", "enabled: yes\nother: 1\n", "enabled: true\nother: 2\n", "+ enabled: true\n"},
		{"a number that is written otherwise, too", "mode: 0644\nother: 1\n", "mode: 420\nother: 2\n", "+ mode: 420\n"},
		{"a tag that changes, too", "a: !x 1\nother: 1\n", "a: !y 1\nother: 2\n", "+ a: !y 1\n"},
		{"comments, spellings and aliases that stay", "# c\na: &x {b: yes}\nc: *x\nid: 0644\nother: 1 # d\nl: [{id: 1, v: 1}]\n", "# c\na: &x {b: yes}\nc: *x\nid: 0644\nother: 2 # d\nl: [{id: 1, v: 2}]\n", "data[x] other   1 → 2"},
		{"several documents stay a text", "a: 1\n---\nb: 2\n", "a: 2\n---\nb: 3\n", "data[x]  text, +2 −2 lines"},
		{"a script stays a text", "set -e\necho: a\nx\n", "set -e\necho: b\nx\n", "data[x]  text, +1 −1 lines"},
		{"keys that are given twice stay a text", "a: 1\na: 2\n", "a: 1\na: 3\n", "data[x]  text, +1 −1 lines"},
		{"so do those of JSON", `{"a":[{"b":1,"b":2}],"c":1}`, `{"a":[{"b":1,"b":2}],"c":2}`, `data[x]  "{"a":[{"b":1,"b":2}],"c":1}" → "{"a":[{"b":1,"b":2}],"c":2}"`},
		{"keys that several tables have", `{"a":[{"b":1,"c":{"b":1}},{"b":1}],"b":1}`, `{"a":[{"b":1,"c":{"b":1}},{"b":1}],"b":2}`, "data[x] b  1 → 2"},
		{"a masked value", `{"a":{"token":"(sensitive 9f2c…)"}}`, `{"a":{"token":"(sensitive 41ab…)"}}`, "data[x] a.token  changed (9f2c… → 41ab…)"},
		{"a list that becomes a map", `[1]`, `{"a":1}`, `data[x]  "[1]" → "{"a":1}"`},
	} {
		p := changing(map[string][]plan.Change{"c": {{Path: "data[x]", From: tc.from, To: tc.to}}}, "c")
		if got := text(t, p, TextOptions{}); !strings.Contains(got, tc.want) {
			t.Errorf("%s: want %q in\n%s", tc.why, tc.want, got)
		}
	}
}

// In full, a text of several lines is shown with its comments and layout.
func TestInFullTextsAreShownAsTexts(t *testing.T) {
	p := changing(map[string][]plan.Change{"c": {{Path: "data[x]", From: "a: 1\nb: 2\n", To: "a: 1\nb: 3\n"}}}, "c")
	if got := text(t, p, TextOptions{Full: true}); !strings.Contains(got, "- b: 2") || !strings.Contains(got, "+ b: 3") {
		t.Errorf("full:\n%s", got)
	}
}

// The same change in many objects is one line, and what differs stays separate.
func TestTheSameChangeInManyObjectsIsOneLine(t *testing.T) {
	changes := map[string][]plan.Change{}
	names := []string{"alerts", "nodes", "pods", "other", "drifted"}
	for i, name := range names {
		path := "data[" + name + ".json]"
		changes[name] = []plan.Change{{Path: path, From: dashboard("11.4.0", i+1), To: dashboard("13.0.0", i+1), Cause: plan.CauseChart}}
	}
	changes["other"] = append(changes["other"], plan.Change{Path: "data.more", To: "1", Cause: plan.CauseChart})
	changes["other"] = append(changes["other"], plan.Change{Path: "data[x.y]", To: "1", Cause: plan.CauseChart}, plan.Change{Path: "data[x.z]", To: "1", Cause: plan.CauseChart})
	changes["drifted"][0].Cause = plan.CauseDrift
	p := changing(changes, names...)
	got := text(t, p, TextOptions{})
	for _, want := range []string{
		"~ 3 ConfigMaps  alerts, nodes, pods\n", "data[…] panels[…].pluginVersion             v11.4.0 → v13.0.0 (and 5 like it)  chart\n",
		"data[x.y]  ", "data[x.z]  ", "~ ConfigMap/other\n", "~ ConfigMap/drifted\n", "Plan: 5 to change",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if full := text(t, p, TextOptions{Full: true}); strings.Contains(full, "3 ConfigMaps") || strings.Count(full, "pluginVersion") != 15 {
		t.Errorf("in full:\n%s", full)
	}
}

// Changes that restart pods and mean nothing else are one line, even if few objects share them.
func TestLabelsAndChecksumsOfPodsAreOneLine(t *testing.T) {
	p := changing(nil, "web")
	p.Stages[0].Waves[0].Steps[0].Object = manifest.ID{Group: "apps", Kind: "Deployment", Name: "web"}
	p.Stages[0].Waves[0].Steps[0].Changes = []plan.Change{
		{Path: "spec.template.metadata.annotations.checksum/cm", From: "a", To: "b", Cause: plan.CauseChart},
		{Path: "spec.template.metadata.annotations.checksum/secret", From: "x", To: "y", Cause: plan.CauseChart, Sensitive: true},
		{Path: "spec.template.metadata.labels[helm.sh/chart]", From: "web-1", To: "web-2", Cause: plan.CauseChart},
		{Path: "spec.template.spec.containers[web].image", From: "web:1", To: "web:2", Cause: plan.CauseChart},
	}
	got := text(t, p, TextOptions{})
	if !strings.Contains(got, "~ Deployment/web  pods restart; labels and checksums of the pod template change, too\n") || strings.Contains(got, "checksum/") || !strings.Contains(got, "web:1 → web:2") {
		t.Errorf("got\n%s", got)
	}
	if full := text(t, p, TextOptions{Full: true}); !strings.Contains(full, "checksum/cm") {
		t.Errorf("in full:\n%s", full)
	}
	// By any other label, a Service may select the pods.
	changes := &p.Stages[0].Waves[0].Steps[0].Changes
	*changes = append(*changes, plan.Change{Path: "spec.template.metadata.labels.tier", From: "front", To: "back", Cause: plan.CauseChart})
	if got := text(t, p, TextOptions{}); !strings.Contains(got, "labels.tier        front → back") || strings.Contains(got, "helm.sh/chart") {
		t.Errorf("got\n%s", got)
	}
}

// A path that is too wide for its column stays whole, because its middle says what it is about.
func TestPathsAreWhole(t *testing.T) {
	const long = "data[resource.customizations.ignoreResourceUpdates.ConfigMap.with.a.very.long.key.indeed]"
	p := changing(map[string][]plan.Change{"c": {{Path: long, To: "a value that is fairly long, too", Cause: plan.CauseChart}, {Path: "data.a", To: "1"}}}, "c")
	for _, columns := range []int{100, 120} {
		if got := text(t, p, TextOptions{Width: columns}); !strings.Contains(got, "       "+long) {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}

// The header names the chart's defaults that may have led to a plan, and what the chart
// runs; images are listed with the images, new tables belong to something new.
func TestTheHeaderTellsChangedDefaults(t *testing.T) {
	p := changing(map[string][]plan.Change{"c": {{Path: "data.a", To: "1"}}}, "c")
	p.ChartFrom, p.ChartTo = plan.ChartRef{Name: "web", Version: "1.0.0", AppVersion: "7.2.4"}, plan.ChartRef{Name: "web", Version: "2.0.0", AppVersion: "8.2.1"}
	p.Values = []plan.Change{
		{Path: "networkPolicy.create", From: false, To: true, Cause: plan.CauseChart},
		{Path: "server.image.tag", From: "7.2.4", To: "8.2.1", Cause: plan.CauseChart},
		{Path: "log.level", To: "INFO", Cause: plan.CauseChart},
		{Path: "newcomer", To: map[string]any{"port": "80"}, Cause: plan.CauseChart},
	}
	got := text(t, p, TextOptions{})
	for _, want := range []string{"web 1.0.0 → 2.0.0 (app 7.2.4 → 8.2.1)", "  defaults  networkPolicy.create false → true, log.level added: INFO\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if full := text(t, p, TextOptions{Full: true}); !strings.Contains(full, "server.image.tag") || !strings.Contains(full, "newcomer") {
		t.Errorf("in full:\n%s", full)
	}
}

// Pods that an operator makes of a custom resource restart, too, when its image changes.
func TestImagesOfCustomResourcesRestartWhatOperatorsRun(t *testing.T) {
	p := changing(map[string][]plan.Change{"c": {{Path: "data.a", To: "1"}}}, "c")
	id := func(group, kind string) manifest.ID { return manifest.ID{Group: group, Kind: kind, Name: "main"} }
	p.Impact.Restarts = []plan.Restart{{Kind: "Deployment", Objects: 1, Pods: 2}}
	p.Impact.Images = []plan.ImageChange{
		{From: "prom:1", To: "prom:2", Objects: []manifest.ID{id("monitoring.coreos.com", "Prometheus"), id("apps", "Deployment")}},
		{To: "new:1", Objects: []manifest.ID{id("monitoring.coreos.com", "Alertmanager")}},
	}
	if got := text(t, p, TextOptions{}); !strings.Contains(got, "  restarts  1 Deployment (2 pods), what operators run for 1 Prometheus\n") {
		t.Errorf("got\n%s", got)
	}
}

// A short value beside a long path does not exceed the width of the terminal, which would
// break the line anywhere: it gets a line of its own.
func TestShortValuesBesideLongPathsFit(t *testing.T) {
	id := manifest.ID{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}
	p := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{{
		ID: "s", Object: id, Op: plan.OpPatch, Changes: []plan.Change{
			{Path: "spec.template.spec.containers[redis].livenessProbe.exec.command[1]", From: "-c", To: "-ec", Cause: plan.CauseChart},
			{Path: "spec.template.spec.containers[redis].resources.limits.ephemeral-storage", To: "2Gi", Cause: plan.CauseChart},
			{Path: "spec.short", From: "a", To: "b", Cause: plan.CauseChart},
		},
	}}}}}}}
	for columns := 60; columns <= 130; columns++ {
		for line := range strings.Lines(text(t, p, TextOptions{Width: columns})) {
			if line = strings.TrimRight(line, "\n"); width(line) > columns {
				t.Errorf("at %d columns: %q", columns, line)
			}
		}
	}
}
