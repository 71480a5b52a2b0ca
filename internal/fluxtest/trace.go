// Package fluxtest reads recorded traces of Flux's helm-controller for tests: what was
// applied, and the resulting HelmRelease status and release records.
// ../shared/flux/README.md describes the files.
package fluxtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Trace is the recording of one scenario.
type Trace struct {
	Name  string
	Dir   string
	Steps []*Step
}

// Step is what was done, and the resulting state.
type Step struct {
	// Name is for example "07-upgrade-fails-rollback/02".
	Name string
	// Applied is the text that was applied; lines that start with # are manual actions.
	Applied string
	// Answer is the API server's response if it refused.
	Answer string
	// Settled reports whether the controller came to rest.
	Settled bool
	// HelmRelease is the state after the step, nil if it is gone.
	HelmRelease *flux.HelmRelease
	// Others holds further HelmReleases, as last recorded.
	Others []*flux.HelmRelease
	// Sources holds the objects of source.toolkit.fluxcd.io.
	Sources []*flux.Source
	// Objects holds the objects in the namespaces.
	Objects []map[string]any
	// Records holds all records stored after the step.
	Records []Record
	// Writes holds what each write of the status changed, in order.
	Writes []map[string]any
	// Actions holds the actions that ran, in Flux's words: "install", "upgrade", "test",
	// "rollback", "uninstall", "correct cluster drift".
	Actions []string
	// Events holds the reported events, such as "Warning UpgradeFailed", each once, in order.
	Events []string
	// Notifications holds what was sent to notification-controller, each once.
	Notifications []Notification
	// Conditions holds the conditions that were written, such as "Ready False ValuesError".
	Conditions []string
}

// Notification is what helm-controller posts to its --events-addr.
type Notification struct {
	// Severity is "info", "error" or "trace".
	Severity string            `json:"severity"`
	Reason   string            `json:"reason"`
	Metadata map[string]string `json:"metadata"`
}

// String returns the notification on one line.
func (n Notification) String() string { return fmt.Sprint(n.Severity, " ", n.Reason, " ", n.Metadata) }

// Record is a release record with the namespace it is stored in.
type Record struct {
	*release.Revision
	StorageNamespace string
	// Labels holds the labels of the Secret that contains it.
	Labels map[string]string
}

type after struct {
	Step        string                          `json:"step"`
	Settled     bool                            `json:"settled"`
	Answer      json.RawMessage                 `json:"answer"`
	HelmRelease map[string]any                  `json:"helmrelease"`
	Others      []map[string]any                `json:"others"`
	Sources     []map[string]any                `json:"sources"`
	Objects     []map[string]any                `json:"objects"`
	Transitions []map[string]any                `json:"transitions"`
	Events      []struct{ Type, Reason string } `json:"events"`
	Notified    []Notification                  `json:"notifications"`
	Records     []struct {
		Name, StorageNamespace, Namespace string
		Version                           int
		Labels                            map[string]string
	} `json:"records"`
}

// Traces returns the traces in ../shared/flux if they are available, and the project's
// own excerpts in testdata.
func Traces(t *testing.T) []*Trace {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	own := filepath.Join(filepath.Dir(file), "testdata")
	var out []*Trace
	for _, root := range []string{filepath.Join(filepath.Dir(file), "../../../shared/flux"), own} {
		steps, err := filepath.Glob(filepath.Join(root, "*", "01-after.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range steps {
			out = append(out, read(t, filepath.Dir(first)))
		}
	}
	if len(out) == 0 {
		t.Fatalf("no traces in %s", own)
	}
	return out
}

func read(t *testing.T, dir string) *Trace {
	t.Helper()
	out := &Trace{Name: filepath.Base(dir), Dir: dir}
	stored := map[string]*release.Revision{}
	for n := 1; ; n++ {
		prefix := fmt.Sprintf("%02d", n)
		data, err := os.ReadFile(filepath.Join(dir, prefix+"-after.json"))
		if err != nil {
			return out
		}
		for _, name := range glob(t, dir, prefix+"-record-*.json") {
			r := &release.Revision{}
			decode(t, name, r)
			stored[key(r.Namespace, r.Name, r.Version)] = r
		}
		step := &Step{Name: out.Name + "/" + prefix}
		if applied, err := os.ReadFile(filepath.Join(dir, prefix+"-step.yaml")); err == nil {
			step.Applied = string(applied)
		}
		var a after
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		step.fill(t, a, stored)
		if n > 1 && len(step.Others) == 0 {
			step.Others = out.Steps[n-2].Others
		}
		out.Steps = append(out.Steps, step)
	}
}

func (s *Step) fill(t *testing.T, a after, stored map[string]*release.Revision) {
	t.Helper()
	s.Settled, s.Objects = a.Settled, a.Objects
	if text := string(a.Answer); text != "null" {
		s.Answer = text
	}
	if a.HelmRelease != nil {
		s.HelmRelease = helmRelease(t, a.HelmRelease)
	}
	for _, o := range a.Others {
		s.Others = append(s.Others, helmRelease(t, o))
	}
	for _, o := range a.Sources {
		source, err := flux.DecodeSource(o)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		s.Sources = append(s.Sources, source)
	}
	for _, r := range a.Records {
		record := stored[key(r.Namespace, r.Name, r.Version)]
		if record == nil {
			t.Fatalf("%s: record %d of %s was not recorded", s.Name, r.Version, r.Name)
		}
		s.Records = append(s.Records, Record{record, r.StorageNamespace, r.Labels})
	}
	for _, e := range a.Events {
		if text := e.Type + " " + e.Reason; !slices.Contains(s.Events, text) {
			s.Events = append(s.Events, text)
		}
	}
	s.Writes, s.Notifications = a.Transitions, a.Notified
	for _, fields := range a.Transitions {
		for name, value := range fields {
			text, ok := value.(string)
			kind, isCondition := strings.CutPrefix(name, "condition ")
			if !ok || !isCondition {
				continue
			}
			about, _, _ := strings.Cut(text, " (gen")
			s.Conditions = append(s.Conditions, kind+" "+about)
		}
		if action := Running(fields); action != "" {
			s.Actions = append(s.Actions, action)
		}
	}
}

// Running returns the action that a write of the status says has started, or "".
func Running(write map[string]any) string {
	text, _ := write["condition Reconciling"].(string)
	_, rest, _ := strings.Cut(text, "Running '")
	action, _, _ := strings.Cut(rest, "'")
	return action
}

func helmRelease(t *testing.T, object map[string]any) *flux.HelmRelease {
	t.Helper()
	hr, err := flux.DecodeHelmRelease(object)
	if err != nil {
		t.Fatal(err)
	}
	return hr
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func key(namespace, name string, version int) string {
	return namespace + "/" + name + "/" + strconv.Itoa(version)
}

// Data returns the content of a key of a ConfigMap or Secret after the step.
func (s *Step) Data(kind, namespace, name, key string) (data []byte, ok bool) {
	for _, o := range s.Objects {
		metadata, _ := o["metadata"].(map[string]any)
		if o["kind"] != kind || metadata["namespace"] != namespace || metadata["name"] != name {
			continue
		}
		content, _ := o["data"].(map[string]any)
		text, ok := content[key].(string)
		if kind != kinds.Secret.Kind || !ok {
			return []byte(text), ok
		}
		decoded, err := base64.StdEncoding.DecodeString(text)
		return decoded, err == nil
	}
	return nil, false
}
