package controller

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Unchanged fields are not sent, and with nothing to send there is no request.
func TestStatusPatchSendsChangesAlone(t *testing.T) {
	was := flux.HelmReleaseStatus{ObservedGeneration: 1, HelmChart: "a/b", Failures: 2}
	if patch, err := statusPatch(was, was); patch != nil || err != nil {
		t.Errorf("%v, %v", patch, err)
	}
	is := was
	is.ObservedGeneration, is.Failures = 2, 0
	patch, err := statusPatch(was, is)
	if want := map[string]any{"failures": nil, "observedGeneration": 2.0}; !reflect.DeepEqual(patch, want) || err != nil {
		t.Errorf("%v, %v, want %v", patch, err, want)
	}
}

// The leases are helm-controller's; each shard has its own.
func TestLeasesAreHelmControllers(t *testing.T) {
	if got := leaseName(""); got != "helm-controller-leader-election" {
		t.Error(got)
	}
	a, b := leaseName("sharding.fluxcd.io/key=shard1"), leaseName("sharding.fluxcd.io/key=shard2")
	if a == b || !strings.HasPrefix(a, "helm-controller-leader-election-") || len(a) != len("helm-controller-leader-election-")+8 {
		t.Error(a, b)
	}
}

// A release's digest identifies its records: a different version of a record, one more or one fewer gives
// a different digest, in whatever order they are seen.
func TestRecordMarks(t *testing.T) {
	record := func(uid types.UID, version string) *metav1.PartialObjectMetadata {
		o := &metav1.PartialObjectMetadata{}
		o.Namespace, o.UID, o.ResourceVersion = "apps", uid, version
		o.Labels = map[string]string{"owner": "helm", "name": "web"}
		return o
	}
	m := &recordDigests{sums{digests: map[client.ObjectKey]fingerprint{}}}
	key := client.ObjectKey{Namespace: "apps", Name: "web"}
	m.toggle(record("v1", "1"))
	one := m.of(key)
	m.toggle(record("v2", "2"))
	two := m.of(key)
	if one == two {
		t.Error("a second record is not seen")
	}
	m.toggle(record("v2", "2"))
	if m.of(key) != one {
		t.Error("a record that goes leaves a trace")
	}
	m.toggle(record("v1", "1"))
	if len(m.digests) != 0 {
		t.Error("releases without records are remembered")
	}
	other := record("v1", "1")
	other.Labels["owner"] = "somebody"
	if m.toggle(other); len(m.digests) != 0 {
		t.Error("other Secrets are taken for records")
	}
}

// A process that is told to end has 20 seconds to do so, within Kubernetes' 30.
func TestTimeToEnd(t *testing.T) {
	o, err := parse([]string{"--runtime-namespace=a"}, func(string) {})
	if err != nil || o.GracefulShutdown != 20*time.Second {
		t.Errorf("%s, %v", o.GracefulShutdown, err)
	}
}

// Errors about flags and arguments name them.
func TestFlagsThatAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"--feature-gates: OOMWatch is not a feature gate of this controller": {"--runtime-namespace=a", "--feature-gates=OOMWatch=true"},
		`--feature-gates: ExternalArtifact must be true or false, not "on"`:  {"--runtime-namespace=a", "--feature-gates=ExternalArtifact=on"},
		`arguments are not allowed: ["more"]`:                                {"--runtime-namespace=a", "more"},
		"--concurrent and --memory-budget must be positive":                  {"--runtime-namespace=a", "--concurrent=0"},
	} {
		if _, err := parse(args, func(string) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	o, err := parse([]string{"--runtime-namespace=a", "--feature-gates=ExternalArtifact=True"}, func(string) {})
	if err != nil || !o.ExternalArtifacts {
		t.Errorf("ExternalArtifact=True: %t, %v", o.ExternalArtifacts, err)
	}
}

// --log-level takes helm-controller's levels (fluxcd/pkg/runtime, logger), and no others.
func TestLevelsOfTheLog(t *testing.T) {
	for level, want := range map[string]string{"trace": "debug info error", "debug": "debug info error", "info": "info error", "error": "error", "warn": ""} {
		var out strings.Builder
		log, err := LogOptions{Level: level, Encoding: "console"}.logger(&out)
		if (err == nil) != (want != "") {
			t.Errorf("%s: %v", level, err)
		}
		if err != nil {
			continue
		}
		log.V(4).Info("debug")
		log.Info("info")
		log.Error(nil, "error")
		var logged []string
		for _, line := range regexp.MustCompile(`msg=(\w+)`).FindAllStringSubmatch(out.String(), -1) {
			logged = append(logged, line[1])
		}
		if got := strings.Join(logged, " "); got != want {
			t.Errorf("%s logs %q, want %q", level, got, want)
		}
	}
}

// The flags of helm-controller that docs/controller.md lists as missing are missing. helm-controller 1.6.3
// has no others that are.
func TestFlagsOfHelmControllerThatAreMissing(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "restarts again and again):\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	missing := regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(list, -1)
	if len(missing) != 12 {
		t.Errorf("the page lists %d flags: %q", len(missing), missing)
	}
	for _, flag := range missing {
		if _, err := parse([]string{"--runtime-namespace=a", flag[1] + "=1"}, func(string) {}); err == nil || !strings.Contains(err.Error(), "unknown flag") {
			t.Errorf("%s: %v", flag[1], err)
		}
	}
}
