package flux

import "testing"

// Checks 2 and 3 of FLUX.md.
func TestCheck2And3NamesOfTheRelease(t *testing.T) {
	for _, c := range []struct {
		why                      string
		namespace, name          string
		spec                     HelmReleaseSpec
		release, target, storage string
	}{
		{"the name alone", "apps", "web", HelmReleaseSpec{}, "web", "apps", "apps"},
		{"the target namespace in front, records stay", "apps", "web", HelmReleaseSpec{TargetNamespace: "ns"}, "ns-web", "ns", "apps"},
		{"a name of its own", "apps", "web", HelmReleaseSpec{TargetNamespace: "ns", ReleaseName: "front"}, "front", "ns", "apps"},
		{"records elsewhere", "apps", "web", HelmReleaseSpec{StorageNamespace: "records"}, "web", "apps", "records"},
		{
			"shortened: 40 characters, a dash, 12 digits", "apps", "with-a-nice-object-name",
			HelmReleaseSpec{TargetNamespace: "a-very-lengthy-target-namespace"},
			"a-very-lengthy-target-namespace-with-a-n-97af5d7f41f3", "a-very-lengthy-target-namespace", "apps",
		},
	} {
		hr := &HelmRelease{Metadata: Metadata{Namespace: c.namespace, Name: c.name}, Spec: c.spec}
		if got := hr.ReleaseName(); got != c.release {
			t.Errorf("%s: release %q, want %q", c.why, got, c.release)
		}
		if got := hr.ReleaseNamespace(); got != c.target {
			t.Errorf("%s: target %q, want %q", c.why, got, c.target)
		}
		if got := hr.StorageNamespace(); got != c.storage {
			t.Errorf("%s: storage %q, want %q", c.why, got, c.storage)
		}
	}
}
