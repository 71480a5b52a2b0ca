package flux

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Check 1 of FLUX.md.
func TestCheck1ChartAndChartRef(t *testing.T) {
	for _, c := range []struct{ why, spec, fails string }{
		{"neither", `{interval: 1m}`, "spec: either chart or chartRef must be set"},
		{"both", `{interval: 1m, chartRef: {kind: HelmChart, name: a}, chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}`, "spec: either chart or chartRef must be set, not both"},
		{"no interval", `{chartRef: {kind: HelmChart, name: a}}`, "spec.interval: required"},
		{"another kind", `{interval: 1m, chartRef: {kind: Bucket, name: a}}`, `spec.chartRef.kind: "Bucket"`},
		{"no source", `{interval: 1m, chart: {spec: {chart: a}}}`, "spec.chart.spec.sourceRef: required"},
		{"retryInterval of another strategy", `{interval: 1m, chartRef: {kind: HelmChart, name: a}, install: {strategy: {name: RemediateOnFailure, retryInterval: 5s}}}`, "spec.install.strategy.retryInterval"},
		{"a drift rule that can't be read", `{interval: 1m, chartRef: {kind: HelmChart, name: a}, driftDetection: {mode: enabled, ignore: [{paths: [/data]}, {paths: [/data], target: {labelSelector: '('}}]}}`, "spec.driftDetection.ignore[1].target.labelSelector: "},
		{"all well", `{interval: 1m, chartRef: {kind: HelmChart, name: a}}`, ""},
	} {
		hr, err := DecodeHelmRelease(parse(t, "{metadata: {name: web, namespace: apps}, spec: "+c.spec+"}"))
		if err != nil {
			t.Fatal(err)
		}
		err = hr.Validate()
		if (err == nil) != (c.fails == "") || (err != nil && !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.why, err, c.fails)
		}
	}
}

// Check 54 of FLUX.md: both versions of the API, and what neither knows.
func TestCheck54APIVersionsAndUnknownFields(t *testing.T) {
	hr, err := DecodeHelmRelease(parse(t, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps, managedFields: []}
spec:
  interval: 1m
  later: {a: 1}
  install: {newOption: true}
  chart: {kind: OCIRepository, spec: {url: "oci://registry.example.com/web", ref: {tag: 1.0.0}}}
status: {alsoNew: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := hr.Validate(); err != nil {
		t.Error(err)
	}
	if want := []string{"spec.install.newOption", "spec.later"}; !slices.Equal(hr.Unknown, want) {
		t.Errorf("unknown %q, want %q", hr.Unknown, want)
	}
	if spec, _ := hr.Object["spec"].(map[string]any); spec["later"] == nil {
		t.Error("the unknown field was not kept")
	}
	if got := hr.ChartSource().String(); got != "OCIRepository/apps/apps-web" {
		t.Error(got)
	}
	hr.Spec.Chart.Spec.Chart = "web"
	if err := hr.Validate(); err == nil {
		t.Error("chart is not allowed with kind OCIRepository")
	}
}

func TestAFieldOfAnotherTypeIsNamed(t *testing.T) {
	_, err := DecodeHelmRelease(parse(t, `{metadata: {name: web, namespace: apps}, spec: {interval: 1m, install: {replace: "yes"}}}`))
	if err == nil || !strings.Contains(err.Error(), "apps/web") || !strings.Contains(err.Error(), "spec.install.replace") {
		t.Error(err)
	}
}

func TestAFieldOfAnotherSourceIsNamed(t *testing.T) {
	s, err := DecodeSource(parse(t, `{kind: GitRepository, metadata: {name: web}, spec: {interval: 1m, url: "https://x", bucketName: b}}`))
	if err != nil || !slices.Equal(s.Unknown, []string{"spec.bucketName"}) {
		t.Error(s, err)
	}
}

// The types have a place for every field of the CRDs of helm-controller 1.6 and
// source-controller 1.9, if these are available.
func TestTypesHaveTheFieldsOfTheCRDs(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/flux/crds/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := parse(t, string(data))
		spec := crd["spec"].(map[string]any)
		kind := spec["names"].(map[string]any)["kind"].(string)
		version := spec["versions"].([]any)[0].(map[string]any)
		schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)["spec"]
		sample, _ := example(schema.(map[string]any)).(map[string]any)
		object := map[string]any{"kind": kind, "metadata": map[string]any{"name": "a"}, "spec": sample}
		var unknown []string
		if kind == KindHelmRelease {
			hr, err := DecodeHelmRelease(object)
			if err != nil {
				t.Fatal(err)
			}
			unknown = hr.Unknown
		} else {
			s, err := DecodeSource(object)
			if err != nil {
				t.Fatal(err)
			}
			unknown = s.Unknown
			if got := len(sample); got != len(sourceFields[kind]) {
				t.Errorf("%s: %d fields in the CRD, %d in sourceFields", kind, got, len(sourceFields[kind]))
			}
		}
		if len(unknown) > 0 {
			t.Errorf("%s: no place for %q", kind, unknown)
		}
	}
}

// A spec from a file has the defaults of the CRDs as a live one has, if these are available.
func TestDefaultsAreThoseOfTheCRDs(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/flux/crds/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec := parse(t, string(data))["spec"].(map[string]any)
		kind := spec["names"].(map[string]any)["kind"].(string)
		version := spec["versions"].([]any)[0].(map[string]any)
		schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)["spec"]
		eachDefault(schema.(map[string]any), nil, func(fields []string, value any) {
			if slices.Equal(fields, []string{"timeout"}) { // content does not depend on it
				return
			}
			defaulted := func(value any) any {
				object := map[string]any{"kind": kind, "metadata": map[string]any{"name": "a", "namespace": "a"}, "spec": map[string]any{}}
				at := object["spec"].(map[string]any)
				for _, name := range fields[:len(fields)-1] {
					below := map[string]any{}
					at[name], at = below, below
				}
				if value != nil {
					at[fields[len(fields)-1]] = value
				}
				if kind == KindHelmRelease {
					hr, err := DecodeHelmRelease(object)
					if err != nil {
						t.Fatal(err)
					}
					return hr.Spec.Defaulted()
				}
				s, err := DecodeSource(object)
				if err != nil {
					t.Fatal(err)
				}
				return s.Defaulted()
			}
			if !reflect.DeepEqual(defaulted(nil), defaulted(value)) {
				t.Errorf("%s: spec.%s without a value is not %v", kind, strings.Join(fields, "."), value)
			}
		})
	}
}

// eachDefault visits the defaults in a schema, by the names of the fields that lead to them.
func eachDefault(schema map[string]any, fields []string, visit func(fields []string, value any)) {
	if value, has := schema["default"]; has {
		visit(fields, value)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		eachDefault(p.(map[string]any), append(slices.Clone(fields), name), visit)
	}
}

// example returns a value that has every field of the schema.
func example(schema map[string]any) any {
	switch schema["type"] {
	case "object":
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			out[name] = example(p.(map[string]any))
		}
		return out
	case "array":
		return []any{example(schema["items"].(map[string]any))}
	case "boolean":
		return true
	case "integer":
		return 1
	case "string":
		if p, _ := schema["pattern"].(string); strings.Contains(p, "(ms|s|m") {
			return "1m"
		}
		return "a"
	}
	return map[string]any{}
}

func TestInlineValuesAreReadAsHelmControllerReadsThem(t *testing.T) {
	hr := &HelmRelease{Spec: HelmReleaseSpec{Values: json.RawMessage(`{"n": 1000000, "l": [1]}`)}}
	if got := hr.InlineValues(); !reflect.DeepEqual(got, map[string]any{"n": 1e6, "l": []any{1.0}}) {
		t.Errorf("%#v", got)
	}
	hr.Spec.Values = json.RawMessage(`[1]`)
	if got := hr.InlineValues(); got != nil {
		t.Errorf("%#v", got)
	}
}
