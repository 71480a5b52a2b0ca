package redact

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// unmasked matches the paths of texts that stay as they are: names, and words of our own, of Kubernetes or of Helm.
var unmasked = regexp.MustCompile(strings.Join([]string{
	`^\.(FormatVersion|ToolVersion|KubeVersion|PlanDigest|EffectDigest|Operation|AppliedFrom|Applier)$`,
	`^\.(Origin|Release|ChartFrom|ChartTo|ChartSource\.Signature)\.\w+$`,
	`^\.(ChartSource\.(Name|Version|Digest)|ChartLock\.(File|Digest)|Cluster\.(Context|CA|UID|NamespaceUID)|Against\.Kind)$`,
	`^\.Options\.((OnlyTests|SkipTests|Sensitive)\[\]|Cascade|FieldManager|Policy\.\w+\[\]\.(By|Risk|Source|(DriftOf|Kinds|Names)\[\]))$`,
	`\.(Cause|Manager|(Object|Objects\[\]|Removed\[\])\.(Group|Kind|Namespace|Name)|Stages\[\]\.Name)$`,
	`\.Steps\[\]\.(ID|Op|When|Of|APIVersion|Source|PatchType|(Behind|MigrateOwnership|Unserved)\[\]|Expect\.\w+|Cascade|Fidelity|Risk|Hook\..+)$`,
	`\.Record\.(Status|FailDescription|Descriptions\{\})$`,
	`\.((Lasting|NotUndone|Problems|Asked)\[\]\.(Step|Kind|Risk)|Reviews\[\]\.By)$`,
	`^\.Impact\.(Restarts\[\]\.Kind|Limits\[\]\.Resource|\w+\[\]\.Change|Volumes\[\]\.(Fate|Why)|Rollouts\[\]\.Budgets\[\]\.Name)$`,
}, "|"))

// A secret is masked in every text of a plan that is none of its names and no word of ours: also in those that will be
// new in the plan.
func TestEveryTextOfAPlanIsMasked(t *testing.T) {
	for at := 0; ; at++ {
		p, n, path := holder(), 0, ""
		eachText(reflect.ValueOf(&p.Document).Elem(), "", func(is string, set func(string)) {
			if n == at {
				path = is
				set("it says " + Canary)
			}
			n++
		})
		if path == "" {
			return
		}
		out, err := json.Marshal(Plan(p).Document)
		if err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(string(out), InJSON(Canary)); shown != unmasked.MatchString(path) {
			t.Errorf("a secret in %s is shown: %v", path, shown)
		}
	}
}

// holder returns a plan that holds the canary in a Secret, and has nothing else.
func holder() *plan.Plan {
	secret := plan.Step{Object: manifest.ID{Kind: "Secret", Name: "web"}, Body: &unstructured.Unstructured{Object: map[string]any{
		"kind": "Secret", "stringData": map[string]any{"key": Canary},
	}}}
	return &plan.Plan{Document: plan.Document{Stages: []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{secret, {}}}}}}}}
}

// eachText visits every text that fits in v, with its path and a function that sets it. What is empty gets an item,
// and of several items the last one is visited.
func eachText(v reflect.Value, path string, visit func(path string, set func(string))) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v.SetString)
	case reflect.Interface:
		visit(path, func(text string) { v.Set(reflect.ValueOf(text)) })
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		eachText(v.Elem(), path, visit)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		eachText(v.Index(v.Len()-1), path+"[]", visit)
	case reflect.Map:
		key, item := reflect.Zero(v.Type().Key()), reflect.New(v.Type().Elem()).Elem()
		eachText(item, path+"{}", func(path string, set func(string)) {
			visit(path, func(text string) {
				set(text)
				v.Set(reflect.MakeMap(v.Type()))
				v.SetMapIndex(key, item)
			})
		})
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[*unstructured.Unstructured]() {
				eachText(v.Field(i), path+"."+f.Name, visit)
			}
		}
	}
}
