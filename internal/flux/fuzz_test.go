package flux

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// Check 55 of FLUX.md: whatever a repository holds, reading it ends with a value
// or an error.
func FuzzCheck55HelmRelease(f *testing.F) {
	for _, seed := range []string{
		"metadata: {name: web}\nspec: {interval: 1m, chartRef: {kind: HelmChart, name: a}, values: {a: [1, {b: null}]}}",
		"metadata: {name: web, namespace: apps}\nspec: {interval: 1m, chart: {kind: OCIRepository, spec: {url: \"oci://a/b\"}}, dependsOn: [{name: b}]}",
		"spec: {chart: {spec: null}, upgrade: {remediation: {retries: -1}}}\nstatus: {history: [{version: 1, testHooks: {a: null}}]}",
		"spec: [1]", "metadata: {name: 1}", "spec: {values: [1]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		hr, err := DecodeHelmRelease(object(text))
		if err != nil {
			return
		}
		_ = hr.Validate()
		_, _ = hr.ActiveRemedy()
		_, _, _ = hr.ReleaseName(), hr.ChartSource(), hr.InlineValues()
		_ = hr.Spec.Defaulted()
		for _, s := range hr.Status.Snapshots() {
			_ = s.Tested(hr.Tests())
		}
	})
}

func FuzzCheck55Kustomization(f *testing.F) {
	for _, seed := range []string{
		"metadata: {name: apps}\nspec: {interval: 1m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: a}, postBuild: {substitute: {a: b}}}",
		"spec: {patches: [{patch: \"- op: add\", target: {kind: A}}], images: [{name: a}], healthChecks: [{kind: A, name: b}]}",
		"spec: {postBuild: {substitute: {a: 1}}}", "spec: {sourceRef: a}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if k, err := DecodeKustomization(object(text)); err == nil {
			_ = k.String()
		}
	})
}

func FuzzCheck55Source(f *testing.F) {
	f.Add("kind: GitRepository\nspec: {url: a, ref: {branch: main}}\nstatus: {artifact: {revision: a}}")
	f.Add("kind: HelmChart\nspec: {chart: a, sourceRef: {kind: Bucket}}")
	f.Fuzz(func(_ *testing.T, text string) {
		if s, err := DecodeSource(object(text)); err == nil {
			_, _ = s.NotReady(), s.Reference()
		}
	})
}

func object(text string) map[string]any {
	var out map[string]any
	if len(text) > 1<<12 || yaml.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}
