package release

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

func read(t *testing.T, data []byte) *Revision {
	t.Helper()
	var r Revision
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// write returns the record's JSON with sorted keys and numbers as written.
func write(t *testing.T, r *Revision) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return canonical(t, data)
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func same(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Everything that Helm 3.22.0 and 4.3.1 wrote is known here field by field, so the only
// differences between the two are their own.
func TestRecordsOfHelmAreUnderstood(t *testing.T) {
	for _, helm := range []string{"helm3", "helm4"} {
		t.Run(helm, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + helm + ".json")
			if err != nil {
				t.Fatal(err)
			}
			r := read(t, data)
			same(t, canonical(t, data), write(t, r))

			fresh := *r
			fresh.stored, fresh.storedChart = nil, nil
			var want, got map[string]any
			_ = json.Unmarshal(data, &want)
			_ = json.Unmarshal([]byte(write(t, &fresh)), &got)
			dropEmptyTimes(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("written anew: -want +got:\n%s", diff)
			}
		})
	}
}

// dropEmptyTimes removes the "" that Helm 3 writes for times that were never
// set. Helm 3, as Helm 4, reads a missing time as not set.
func dropEmptyTimes(record map[string]any) {
	groups := []map[string]any{record["info"].(map[string]any)}
	for _, hook := range record["hooks"].([]any) {
		groups = append(groups, hook.(map[string]any)["last_run"].(map[string]any))
	}
	for _, group := range groups {
		for name, value := range group {
			if value == "" && name != "phase" {
				delete(group, name)
			}
		}
	}
}

// A record changes where its revision was changed, and nowhere else. Each case
// is something that a naive decode and encode would lose.
func TestWritingBack(t *testing.T) {
	done := time.Date(2026, 11, 20, 21, 0, 0, 123456780, time.UTC)
	for name, c := range map[string]struct {
		stored string
		change func(*Revision)
		want   string
	}{
		"nothing changes": {
			`{"name":"web","info":{"deleted":"","x":1},"y":[{"z":null}],"hooks":[],"config":{},"version":1}`,
			func(*Revision) {},
			`{"name":"web","info":{"deleted":"","x":1},"y":[{"z":null}],"hooks":[],"config":{},"version":1}`,
		},
		"unknown fields stay beside a change": {
			`{"info":{"status":"deployed","owner":"me"},"signature":"abc","chart":{"metadata":null,"origin":1}}`,
			func(r *Revision) { r.Info.Status = StatusFailed },
			`{"info":{"status":"failed","owner":"me"},"signature":"abc","chart":{"metadata":null,"origin":1}}`,
		},
		"numbers keep their digits": {
			`{"info":{"status":"deployed"},"config":{"a":12345678901234567890,"b":1.0,"c":1}}`,
			func(r *Revision) { r.Config["c"] = 2 },
			`{"info":{"status":"deployed"},"config":{"a":12345678901234567890,"b":1.0,"c":2}}`,
		},
		"values that are named as times": {
			`{"info":{},"config":{"deleted":"","started_at":""}}`,
			func(r *Revision) { r.Version = 2 },
			`{"info":{},"config":{"deleted":"","started_at":""},"version":2}`,
		},
		"a time is set": {
			`{"info":{"deleted":"","last_deployed":"2026-11-20T22:00:00.100+01:00"}}`,
			func(r *Revision) { r.Info.Deleted = done },
			`{"info":{"deleted":"2026-11-20T21:00:00.12345678Z","last_deployed":"2026-11-20T22:00:00.100+01:00"}}`,
		},
		"a hook has run": {
			`{"info":{},"hooks":[{"name":"a","new":1,"last_run":{"started_at":"","phase":""}},{"name":"b","new":2}]}`,
			func(r *Revision) {
				r.Hooks[0].LastRun = Execution{StartedAt: done, Phase: PhaseRunning}
			},
			`{"info":{},"hooks":[{"name":"a","new":1,"last_run":{"started_at":"2026-11-20T21:00:00.12345678Z","phase":"Running"}},{"name":"b","new":2}]}`,
		},
		"hooks come and go": {
			`{"info":{},"hooks":[{"name":"a","new":1}]}`,
			func(r *Revision) { r.Hooks = append(r.Hooks, Hook{Hook: manifest.Hook{Name: "b"}}) },
			`{"info":{},"hooks":[{"name":"a","last_run":{"phase":""}},{"name":"b","last_run":{"phase":""}}]}`,
		},
		"a field is cleared": {
			`{"info":{"description":"x","notes":"y"},"config":{"a":{"b":1}},"z":1}`,
			func(r *Revision) { r.Info.Description, r.Config = "", nil },
			`{"info":{"notes":"y"},"z":1}`,
		},
		"the chart is replaced": {
			`{"info":{},"chart":{"metadata":{"name":"old"},"origin":1}}`,
			func(r *Revision) { r.Chart = &chart.Chart{Metadata: &chart.Metadata{Name: "new"}} },
			`{"info":{},"chart":{"metadata":{"name":"new"},"lock":null,"values":null,"schema":null,"templates":null,"files":null}}`,
		},
		"the chart is removed": {
			`{"info":{},"chart":{"metadata":{"name":"old"}}}`,
			func(r *Revision) { r.Chart = nil },
			`{"info":{}}`,
		},
		"the manifest stays": {
			`{"info":{"status":"deployed"},"manifest":"a: \u003cb\u003e","x":1}`,
			func(r *Revision) { r.Info.Status = StatusFailed },
			`{"info":{"status":"failed"},"manifest":"a: \u003cb\u003e","x":1}`,
		},
		"the manifest is replaced": {
			`{"info":{},"manifest":"a","x":1}`,
			func(r *Revision) { r.Manifest = "b" },
			`{"info":{},"manifest":"b","x":1}`,
		},
		"the manifest is removed": {
			`{"info":{},"manifest":"a","x":1}`,
			func(r *Revision) { r.Manifest = "" },
			`{"info":{},"x":1}`,
		},
		"there was no manifest": {
			`{"info":{},"x":1}`,
			func(r *Revision) { r.Manifest = "b" },
			`{"info":{},"manifest":"b","x":1}`,
		},
		"info was null": {
			`{"info":null,"name":"web"}`,
			func(r *Revision) { r.Info.Status = StatusFailed },
			`{"info":{"status":"failed"},"name":"web"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, []byte(c.stored))
			c.change(r)
			same(t, canonical(t, []byte(c.want)), write(t, r))
		})
	}
}

// Reading one record over another leaves nothing of the first.
func TestReadingOver(t *testing.T) {
	r := read(t, []byte(`{"name":"old","info":{"status":"failed"},"x":1}`))
	if err := json.Unmarshal([]byte(`{"name":"new","info":{}}`), r); err != nil {
		t.Fatal(err)
	}
	same(t, canonical(t, []byte(`{"name":"new","info":{}}`)), write(t, r))
}

// A copy in another status shares no hook and no label with the original: an apply
// records hook runs in the copy while others read the original.
func TestWithStatusCopies(t *testing.T) {
	r := &Revision{Hooks: []Hook{{}}, Labels: map[string]string{"team": "shop"}}
	next := r.WithStatus(StatusDeployed, "done")
	next.Hooks[0].LastRun.Phase = PhaseFailed
	next.Labels["team"] = "blog"
	if r.Hooks[0].LastRun.Phase != "" || r.Labels["team"] != "shop" || r.Info.Status != "" {
		t.Errorf("the original changed: %+v", r)
	}
}

// Every field under the name that Helm 4.3.1 reads it by. Helm 3.22.0 reads the same
// except for apply_method, rollback_revision, modtime and schemamodtime, and drops
// those four when it writes.
func TestFieldNames(t *testing.T) {
	at := time.Date(2026, 11, 20, 21, 0, 0, 123456789, time.FixedZone("", 5400))
	r := &Revision{
		Name: "web", Namespace: "shop", Version: 7, ApplyMethod: ServerSide, Manifest: "m",
		Labels: map[string]string{"team": "shop"},
		Config: map[string]any{"a": nil},
		Info: Info{
			FirstDeployed: at, LastDeployed: at, Deleted: at,
			Description: "d", Status: StatusUninstalled, RollbackRevision: 3, Notes: "n",
		},
		Hooks: []Hook{{
			Hook: manifest.Hook{
				Name: "h", Kind: "Job", Path: "p", Manifest: "m", Weight: -5, Events: []manifest.Event{manifest.Test},
				DeletePolicies: []manifest.Policy{manifest.HookSucceeded}, OutputLogPolicies: []manifest.Policy{manifest.HookFailed},
			},
			LastRun: Execution{StartedAt: at, CompletedAt: at, Phase: PhaseSucceeded},
		}, {Hook: manifest.Hook{Name: "never ran"}}},
		Chart: &chart.Chart{
			Metadata: &chart.Metadata{Name: "web"}, SchemaModTime: at, ModTime: at,
			Templates: []*chart.File{{Name: "t", Data: []byte("x"), ModTime: at}},
		},
	}
	const when = `"2026-11-20T21:00:00.123456789+01:30"`
	want := `{"name":"web","namespace":"shop","version":7,"apply_method":"ssa","manifest":"m","config":{"a":null},
		"info":{"first_deployed":` + when + `,"last_deployed":` + when + `,"deleted":` + when + `,
			"description":"d","status":"uninstalled","rollback_revision":3,"notes":"n"},
		"hooks":[{"name":"h","kind":"Job","path":"p","manifest":"m","weight":-5,"events":["test"],
			"delete_policies":["hook-succeeded"],"output_log_policies":["hook-failed"],
			"last_run":{"started_at":` + when + `,"completed_at":` + when + `,"phase":"Succeeded"}},
			{"name":"never ran","last_run":{"phase":""}}],
		"chart":{"metadata":{"name":"web"},"lock":null,"values":null,"schema":null,"files":null,
			"schemamodtime":` + when + `,"modtime":` + when + `,
			"templates":[{"name":"t","data":"eA==","modtime":` + when + `}]}}`
	same(t, canonical(t, []byte(want)), write(t, r))

	nothing := &Revision{Labels: map[string]string{"team": "shop"}, Config: map[string]any{}, Hooks: []Hook{}}
	same(t, canonical(t, []byte(`{"info":{}}`)), write(t, nothing))
}
