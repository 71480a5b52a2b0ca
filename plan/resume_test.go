package plan

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// A pending revision can be resumed if its record tells how far its run got.
func TestResumable(t *testing.T) {
	hook := func(phase release.Phase, events ...manifest.Event) release.Hook {
		return release.Hook{Hook: manifest.Hook{Name: "migrate", Events: events}, LastRun: release.Execution{Phase: phase}}
	}
	list := hook(release.PhaseSucceeded, manifest.PreUpgrade)
	list.Manifest = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}"
	for _, tc := range []struct {
		why         string
		status      release.Status
		description string
		hooks       []release.Hook
		want        bool
	}{
		{why: "an upgrade", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), want: true},
		{why: "an install", status: release.StatusPendingInstall, description: pendingDescription(Install), want: true},
		{why: "a rollback", status: release.StatusPendingRollback, description: pendingDescription(Rollback), want: true},
		{why: "deployed", status: release.StatusDeployed, description: pendingDescription(Upgrade)},
		{why: "an uninstall", status: release.StatusUninstalling, description: pendingDescription(Uninstall)},
		{why: "by Helm", status: release.StatusPendingUpgrade, description: "Preparing upgrade"},
		{why: "without a lock", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade) + UnlockedMark},
		{why: "hooks that have begun", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{
			hook(release.PhaseSucceeded, manifest.PreUpgrade), hook(release.PhaseRunning, manifest.PostUpgrade), hook("", manifest.PostInstall),
		}, want: true},
		{why: "a hook that has failed", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{hook(release.PhaseFailed, manifest.PreUpgrade)}},
		{why: "a hook of both moments", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{hook("", manifest.PreUpgrade, manifest.PostUpgrade)}},
		{why: "a hook of two objects", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{list}},
		{why: "a hook of two operations", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{hook("", manifest.PreInstall, manifest.PreUpgrade)}, want: true},
	} {
		r := &release.Revision{Info: release.Info{Status: tc.status, Description: tc.description}, Hooks: tc.hooks}
		if got := Resumable(r); got != tc.want {
			t.Errorf("%s: %t", tc.why, got)
		}
	}
}

// A run that goes on behind a hook takes the hook's object away to create the resource of the same name, but
// not the resource that the interrupted run has created already.
func TestResumeBehindTheHookOfAResource(t *testing.T) {
	key := release.Key{Namespace: "shop", Name: "web"}
	parse := func(text string) manifest.Object {
		objects, err := manifest.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop"
	resource, hook := parse(head+"}"), parse(head+", annotations: {helm.sh/hook: pre-upgrade}}")
	hook.Doc.SetUID("the-hook's")
	for name, tc := range map[string]struct {
		live *unstructured.Unstructured
		want string
	}{
		"the hook's":       {hook.Doc, "delete the-hook's create once the-hook's is gone"},
		"the resource":     {owned(resource.Doc, key), "none"},
		"nothing is there": {nil, "create"},
	} {
		before := &release.Revision{Name: "web", Namespace: "shop", Version: 1, Info: release.Info{Status: release.StatusDeployed}}
		r := &release.Revision{Name: "web", Namespace: "shop", Version: 2, Info: release.Info{Status: release.StatusPendingUpgrade, Description: pendingDescription(Upgrade)}}
		r.Hooks = []release.Hook{{Hook: manifest.Hook{Name: "a", Kind: "ConfigMap", Events: []manifest.Event{manifest.PreUpgrade}}, LastRun: release.Execution{Phase: release.PhaseSucceeded}}}
		p, _, err := Build(Input{
			Operation: Upgrade, Release: key, Resume: true, History: release.NewHistory([]*release.Revision{before, r}), Pending: Pending{Ours: true},
			Stored: Stored([]Sent{{Revision: 1, Objects: []manifest.Object{resource}}, {Revision: 2, Objects: []manifest.Object{resource}}}),
			Target: &Target{Record: r, Objects: []manifest.Object{resource}, HookObjects: [][]manifest.Object{{hook}}},
			Live:   map[manifest.ID]Observation{resource.ID: {Object: tc.live}}, Predictions: map[string]Prediction{},
		})
		if err != nil {
			t.Fatal(err)
		}
		var ops []string
		p.Steps(func(_ StageName, s *Step) {
			switch {
			case s.Object != resource.ID:
			case s.Op == OpDelete:
				ops = append(ops, "delete", string(s.Expect.UID))
			case s.Op == OpCreate && s.Expect.UID != "":
				ops = append(ops, "create once", string(s.Expect.UID), "is gone"+s.Of)
			default:
				ops = append(ops, string(s.Op)+s.Of)
			}
		})
		if got := strings.Join(ops, " "); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// The revision of a run that goes on is in the history already, so the history limit counts it once.
func TestResumeCountsItsRevisionOnce(t *testing.T) {
	var revisions []*release.Revision
	for i, status := range []release.Status{release.StatusSuperseded, release.StatusDeployed, release.StatusPendingUpgrade} {
		revisions = append(revisions, &release.Revision{Name: "web", Namespace: "shop", Version: i + 1, Info: release.Info{Status: status}})
	}
	revisions[2].Info.Description = pendingDescription(Upgrade)
	p, _, err := Build(Input{
		Operation: Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Resume: true, Options: Options{HistoryMax: 2},
		History: release.NewHistory(revisions), Pending: Pending{Ours: true}, Target: &Target{Record: revisions[2]},
	})
	if err != nil {
		t.Fatal(err)
	}
	var removed []int
	p.Steps(func(_ StageName, s *Step) {
		if s.Record != nil {
			removed = append(removed, s.Record.Prune...)
		}
	})
	if !slices.Equal(removed, []int{1}) {
		t.Errorf("revisions %d are removed, want 1", removed)
	}
}

// A plan goes on with a revision only if it writes that one again, which was found pending.
func TestPlansThatResume(t *testing.T) {
	for name, test := range map[string]struct {
		d    Document
		want bool
	}{
		"an install":              {Document{Operation: Install, FoundPending: true, FromRevision: 1, ToRevision: 1}, true},
		"an upgrade":              {Document{Operation: Upgrade, FoundPending: true, FromRevision: 2, ToRevision: 2}, true},
		"a rollback":              {Document{Operation: Rollback, FoundPending: true, FromRevision: 2, ToRevision: 2}, true},
		"the next revision":       {Document{Operation: Upgrade, FoundPending: true, FromRevision: 2, ToRevision: 3}, false},
		"nothing pending":         {Document{Operation: Upgrade, FromRevision: 2, ToRevision: 2}, false},
		"a correction":            {Document{Operation: CorrectDrift, FoundPending: true, FromRevision: 2, ToRevision: 2}, false},
		"one that deletes it all": {Document{Operation: Uninstall, FoundPending: true, FromRevision: 2, ToRevision: 2}, false},
	} {
		if got := (&Plan{Document: test.d}).Resumes(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
