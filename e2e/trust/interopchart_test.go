//go:build cluster

package trust

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// part is an object of the sweep's chart. The bits of its variant switch on what an object
// can gain and lose: keys, list items, labels. With no bits set it is in its smallest form.
type part struct {
	name string
	text string // ?N:text? is included if bit N of the variant is set
	bits int
}

// parts are the objects that are added, changed and removed.
var parts = []part{
	{"settings", `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {tier: web?0:, team: shop?}
  ?1:annotations: {note: "kept, or not"}?
data:
  greeting: {{ .Values.greeting | quote }}
  ?2:a: one?
  ?3:b: {{ .Values.extra.b | quote }}?
`, 4},
	{"notes", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {v: \"1?0:1?\", w: {{ .Values.greeting | quote }}}\n", 1},
	{"kept", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations: {helm.sh/resource-policy: keep}\ndata: {v: \"1?0:1?\"}\n", 1},
	{"login", `apiVersion: v1
kind: Secret
metadata: {name: login}
?0:stringData: {token: {{ .Values.greeting | quote }}}?
data:
  user: cm9vdA==
  ?1:key: a2V5?
`, 2},
	{"app", `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  ?0:replicas: {{ .Values.replicas }}?
  selector: {matchLabels: {app: app}}
  template:
    metadata:
      labels: {app: app?1:, tier: web?}
      ?2:annotations: {greeting: {{ .Values.greeting | quote }}}?
    spec:
      ?3:terminationGracePeriodSeconds: 5?
      containers:
        - name: web
          image: shop/web:1.0
          env:
            - {name: A, value: "1"}
            ?4:- {name: B, value: {{ .Values.extra.b | quote }}}?
            ?5:- {name: C, value: "3"}?
          ports:
            - {name: http, containerPort: 8080}
            ?6:- {name: metrics, containerPort: 9090}?
        ?7:- {name: side, image: "shop/side:1.0"}?
`, 8},
	{"service", `apiVersion: v1
kind: Service
metadata: {name: app}
spec:
  selector: {app: app?0:, tier: web?}
  ports:
    - {name: http, port: 80, targetPort: 8080}
    ?1:- {name: metrics, port: 9090}?
    ?2:- {name: dns, port: 80, protocol: UDP}?
`, 3},
	{"set", `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set}
spec:
  serviceName: app
  replicas: 1
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec:
      containers:
        - name: db
          image: shop/db:1?0:.1?
          ?1:args: [a, b]?
      ?2:tolerations: [{key: x, operator: Exists}]?
`, 3},
	{"robot", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: robot\n?0:automountServiceAccountToken: false?\n", 1},
	{"role", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: role}\nrules:\n  - {apiGroups: [\"\"], resources: [pods], verbs: [get?0:, list?]}\n  ?1:- {apiGroups: [\"\"], resources: [secrets], verbs: [get]}?\n", 2},
	{"nightly", `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 ?0:1?2 * * *"
  ?1:suspend: true?
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: "shop/c:1"}]
`, 2},
	{"budget", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: budget}\nspec:\n  ?0:minAvailable: 1?\n  selector: {matchLabels: {app: app?1:, tier: web?}}\n", 2},
	{"wall", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: wall}\nspec:\n  podSelector: {}\n  policyTypes: [Ingress]\n  ingress:\n    - ports: [{port: 80}?0:, {port: 443}?]\n", 1},
	{"widget", `apiVersion: interop.example.com/v1
kind: Widget
metadata:
  name: widget
  ?0:labels: {tier: web}?
spec:
  size: 1
  ?1:colour: {{ .Values.greeting | quote }}?
  ?2:nested: {a: 1, b: [x, y]}?
`, 3},
}

// hookParts are the chart's hooks; the delete policy of each says what it leaves behind.
var hookParts = []part{
	{"before", hookText("before", "pre-install,pre-upgrade", "before-hook-creation"), 0},
	{"after", hookText("after", "post-install,post-upgrade,post-rollback", "hook-succeeded,before-hook-creation"), 0},
	{"bye", hookText("bye", "pre-delete,post-delete", "before-hook-creation,hook-succeeded"), 0},
	{"work", hookJob("work", "pre-upgrade,pre-rollback,post-install", "before-hook-creation,hook-succeeded", "ready"), 0},
}

func hookText(name, events, policy string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook-%s\n  annotations: {helm.sh/hook: %q, helm.sh/hook-delete-policy: %q}\ndata: {v: {{ .Values.greeting | quote }}}\n", name, events, policy)
}

func hookJob(name, events, policy, behave string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: hook-%s
  annotations: {helm.sh/hook: %q, helm.sh/hook-delete-policy: %q}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {testcluster.kubectl-release.dev/behave: %q}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "shop/c:1"}]
`, name, events, policy, behave)
}

// The ways in which a chart can be broken, and the text of each that ends up in the record.
const (
	brokenNot     = ""
	brokenObject  = "an object that the API server refuses"
	brokenPods    = "pods that never get ready"
	brokenHook    = "a hook that fails"
	markOfPods    = "progressDeadlineSeconds: 2"
	markOfObject  = "port: 99999"
	markOfHook    = "behave: \"fail\""
	textOfPods    = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: stuck}\nspec:\n  " + markOfPods + "\n  selector: {matchLabels: {app: stuck}}\n  template:\n    metadata: {labels: {app: stuck}, annotations: {testcluster.kubectl-release.dev/behave: never-ready}}\n    spec: {containers: [{name: c, image: \"shop/c:1\"}]}\n"
	textOfObject  = "apiVersion: v1\nkind: Service\nmetadata: {name: wrong}\nspec:\n  ports:\n    - " + markOfObject + "\n"
	eventsOfBreak = "pre-install,pre-upgrade,pre-rollback"
)

// breaking returns the template that breaks a chart in this way.
func breaking(how string) string {
	switch how {
	case brokenObject:
		return textOfObject
	case brokenPods:
		return textOfPods
	case brokenHook:
		return strings.Replace(hookJob("fails", eventsOfBreak, "before-hook-creation,hook-failed", "fail"), `behave: "fail"`, markOfHook, 1)
	}
	return ""
}

// chartModel is a version of the sweep's chart.
type chartModel struct {
	version int
	parts   map[string]int // the variant of each part that is included
	hooks   map[string]bool
	broken  string
	b       int // the default of extra.b
}

func newChartModel(r *rand.Rand) *chartModel {
	m := &chartModel{parts: map[string]int{}, hooks: map[string]bool{}}
	for _, p := range parts {
		if r.IntN(2) == 0 {
			m.parts[p.name] = r.IntN(1 << p.bits)
		}
	}
	for _, h := range hookParts {
		m.hooks[h.name] = r.IntN(2) == 0
	}
	return m
}

// change adds, removes and changes objects and hooks.
func (m *chartModel) change(r *rand.Rand) {
	m.version++
	m.b = r.IntN(3)
	for _, p := range parts {
		switch r.IntN(6) {
		case 0:
			delete(m.parts, p.name)
		case 1, 2:
			m.parts[p.name] = r.IntN(1 << p.bits)
		}
	}
	for _, h := range hookParts {
		if r.IntN(4) == 0 {
			m.hooks[h.name] = !m.hooks[h.name]
		}
	}
}

// write writes the chart to a folder.
func (m *chartModel) write(t *testing.T, folder string) {
	t.Helper()
	files := map[string]string{
		"Chart.yaml":          fmt.Sprintf("apiVersion: v2\nname: sweep\nversion: 1.0.%d\nappVersion: \"%d\"\n", m.version, m.version),
		"values.yaml":         fmt.Sprintf("greeting: hello\nreplicas: 2\nextra: {b: default-%d, list: [1, 2]}\n", m.b),
		"templates/NOTES.txt": "{{ .Release.Name }} {{ .Chart.Version }} says {{ .Values.greeting }}, revision {{ .Release.Revision }}.\n",
	}
	for _, p := range parts {
		if variant, there := m.parts[p.name]; there {
			files["templates/"+p.name+".yaml"] = p.render(variant)
		}
	}
	for _, h := range hookParts {
		if m.hooks[h.name] {
			files["templates/hook-"+h.name+".yaml"] = h.text
		}
	}
	if text := breaking(m.broken); text != "" {
		files["templates/broken.yaml"] = text
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// render keeps or drops each ?N:text? of a part.
func (p part) render(variant int) string {
	var out strings.Builder
	for rest := p.text; ; {
		before, after, found := strings.Cut(rest, "?")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		choice, next, _ := strings.Cut(after, "?")
		bit, text, _ := strings.Cut(choice, ":")
		if variant&(1<<int(bit[0]-'0')) != 0 {
			out.WriteString(text)
		}
		rest = next
	}
}
