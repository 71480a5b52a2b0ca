package apply_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// theirs is a namesake of the hook migrate that somebody created by hand.
func theirs(uid types.UID) *unstructured.Unstructured {
	job := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}
	job.SetName("migrate")
	job.SetNamespace("shop")
	job.SetUID(uid)
	return job
}

// An object that takes a hook's place between plan and apply is left alone,
// whether the place was empty or held what the last run had left.
func TestAHookLeavesAloneWhatWasBornSinceThePlan(t *testing.T) {
	for name, last := range map[string]bool{"in an empty place": false, "in the place of the last run's": true} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			if last {
				left, err := manifest.ParseDocument(hook, "hook.yaml")
				if err != nil {
					t.Fatal(err)
				}
				w.Put(left[0].Doc)
			}
			p := upgrade(t, w)
			w.Put(theirs("theirs"))
			_, err := apply.Run(t.Context(), p, w.Env())
			if err == nil || !strings.Contains(err.Error(), "created after the plan was made") {
				t.Errorf("got %v", err)
			}
			if live := w.Objects[clusterfake.IDOf(theirs(""))]; live == nil || live.GetUID() != "theirs" {
				t.Errorf("it was replaced by %v; %q", live, w.Log)
			}
		})
	}
}

// An object that the plan saw in a hook's place is deleted before the hook is created.
func TestAHookReplacesWhatThePlanHasSeen(t *testing.T) {
	w := installed(t)
	left, err := manifest.ParseDocument(hook, "hook.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.Put(left[0].Doc)
	if _, err := apply.Run(t.Context(), upgrade(t, w), w.Env()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.Log, "; "); !strings.Contains(got, "delete Job/migrate; create Job/migrate") {
		t.Errorf("it wrote %s", got)
	}
}

// A hook is not created while the object that has its name is still there: two Jobs would run side by side.
func TestAHookWaitsForItsPlace(t *testing.T) {
	for name, test := range map[string]struct {
		in   func(*clusterfake.Cluster) apply.Cluster
		says string
	}{
		"not gone":      {func(w *clusterfake.Cluster) apply.Cluster { return lingering{w, "migrate"} }, "it still exists after 50ms"},
		"no permission": {func(w *clusterfake.Cluster) apply.Cluster { return failing{Cluster: w, deletion: "migrate"} }, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			left, err := manifest.ParseDocument(hook, "hook.yaml")
			if err != nil {
				t.Fatal(err)
			}
			w.Put(left[0].Doc)
			p, env := plannedWith(t, w, plan.Upgrade, revision(2, after), plan.Options{Timeout: 50 * time.Millisecond}), w.Env()
			env.Cluster = test.in(w)
			_, err = apply.Run(t.Context(), p, env)
			const begins = "pre-upgrade hook Job/migrate: delete the object that has its name: "
			if err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
			if slices.Contains(w.Log, "create Job/migrate") {
				t.Errorf("it wrote %q", w.Log)
			}
		})
	}
}

// No hook touches an object that no record of the release lists as a hook, whatever is
// live, recorded or created after the plan, and whatever the hook's policies are.
// An exception is an object that is annotated as a hook and that nobody owns: an uninstalled
// release may have left it behind.
func TestNoHookTouchesWhatIsNotTheReleases(t *testing.T) {
	const rounds = 3000
	touched, blocked := 0, 0
	for seed := range uint64(rounds) {
		g := gamble{Rand: rand.New(rand.NewPCG(seed, 1)), Cluster: clusterfake.New(), recorded: map[manifest.ID]bool{}}
		p := g.deal(t)
		before := g.protected()
		if p.Blocked() {
			blocked++
		} else {
			for _, id := range g.ids() { // created after the plan
				if g.IntN(6) == 0 {
					g.Put(g.object(id, "born"))
					before[id] = g.Objects[id].GetUID()
				}
			}
		}
		_, err := apply.Run(t.Context(), p, g.Env())
		if p.Blocked() && (!errors.Is(err, apply.ErrBlocked) || g.Calls > 0) {
			t.Fatalf("seed %d: a blocked plan ended with %v and %q", seed, err, g.Log)
		}
		for id, uid := range before {
			if live := g.Objects[id]; live == nil || live.GetUID() != uid {
				t.Errorf("seed %d: %s with UID %s was touched: %q", seed, id, uid, g.Log)
			}
		}
		touched += strings.Count(strings.Join(g.Log, "\n"), "delete ")
	}
	t.Logf("%d plans, %d blocked, %d deletions", rounds, blocked, touched)
	if touched < rounds/10 || blocked < rounds/10 || blocked > rounds*9/10 {
		t.Error("the cases are too much alike")
	}
}

// gamble is a random cluster, history and chart.
type gamble struct {
	*rand.Rand
	*clusterfake.Cluster
	recorded map[manifest.ID]bool
}

func (g gamble) ids() []manifest.ID {
	var out []manifest.ID
	for _, name := range []string{"a", "b"} {
		out = append(out,
			manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: name},
			manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: name},
			manifest.ID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name})
	}
	return append(out, manifest.ID{Kind: "Namespace", Name: "tenant"})
}

// object returns an object with this ID and random ownership metadata.
func (g gamble) object(id manifest.ID, uid string) *unstructured.Unstructured {
	version := "v1"
	if id.Group != "" {
		version = id.Group + "/v1"
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": id.Kind}}
	u.SetName(id.Name)
	u.SetNamespace(id.Namespace)
	u.SetUID(types.UID(fmt.Sprintf("%s-%s-%d", uid, id.Key(), g.IntN(1000))))
	annotations := map[string]string{}
	if g.IntN(2) == 0 {
		annotations[manifest.HookAnnotation] = "pre-upgrade"
	}
	switch g.IntN(4) {
	case 0:
		annotations[manifest.ReleaseNameAnnotation], annotations[manifest.ReleaseNamespaceAnnotation] = "other", "shop"
	case 1:
		annotations[manifest.ReleaseNameAnnotation], annotations[manifest.ReleaseNamespaceAnnotation] = "web", "shop"
		u.SetLabels(map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
	}
	u.SetAnnotations(annotations)
	return u
}

// deal fills the cluster and the history and plans an upgrade.
func (g gamble) deal(t *testing.T) *plan.Plan {
	t.Helper()
	statuses := []release.Status{release.StatusSuperseded, release.StatusFailed, release.StatusUninstalled, release.StatusDeployed}
	for v := range 1 + g.IntN(3) {
		r := revision(v+1, "")
		r.Info.Status = statuses[g.IntN(len(statuses))]
		r.Hooks, _ = g.hooks(t)
		for _, h := range r.Hooks {
			for _, id := range g.ids() {
				g.recorded[id] = g.recorded[id] || id.Kind == h.Kind && id.Name == h.Name
			}
		}
		g.Records[v+1] = r
	}
	for _, id := range g.ids() {
		if g.IntN(4) == 0 {
			g.Put(g.object(id, "found"))
		}
	}
	in := plan.Input{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, History: clusterfake.Store{Cluster: g.Cluster}.History(),
		Live: map[manifest.ID]plan.Observation{}, Predictions: map[string]plan.Prediction{},
		Options: plan.Options{Timeout: time.Second},
	}
	for id, o := range g.Objects {
		in.Live[id] = plan.Observed(o.DeepCopy())
	}
	next := revision(len(in.History)+1, "")
	in.Target = &plan.Target{Record: next}
	next.Hooks, in.Target.HookObjects = g.hooks(t)
	p, _, err := plan.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hooks returns a few hooks with random events and policies.
func (g gamble) hooks(t *testing.T) (hooks []release.Hook, objects [][]manifest.Object) {
	t.Helper()
	events := []string{"pre-upgrade", "post-upgrade", "pre-upgrade,post-upgrade", "pre-install"}
	policies := []string{"before-hook-creation", "hook-succeeded", "hook-failed", "before-hook-creation,hook-succeeded", ""}
	for _, id := range g.ids() {
		if g.IntN(4) != 0 {
			continue
		}
		version := "v1"
		if id.Group != "" {
			version = id.Group + "/v1"
		}
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %q\n  annotations: {helm.sh/hook: %q", version, id.Kind, id.Name, id.Namespace, events[g.IntN(len(events))])
		if policy := policies[g.IntN(len(policies))]; policy != "" {
			text += fmt.Sprintf(", helm.sh/hook-delete-policy: %q", policy)
		}
		classified, err := manifest.Classify([]manifest.File{{Path: "web/templates/hooks.yaml", Content: text + "}\n"}})
		if err != nil || len(classified.Hooks) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		parsed, err := manifest.ParseDocument(classified.Hooks[0].Manifest, "web/templates/hooks.yaml")
		if err != nil {
			t.Fatal(err)
		}
		hooks, objects = append(hooks, release.Hook{Hook: classified.Hooks[0]}), append(objects, parsed)
	}
	return hooks, objects
}

// protected returns the live objects that no hook may touch, with their UIDs.
func (g gamble) protected() map[manifest.ID]types.UID {
	out := map[manifest.ID]types.UID{}
	for id, o := range g.Objects {
		owner := o.GetAnnotations()[manifest.ReleaseNameAnnotation]
		_, hook := o.GetAnnotations()[manifest.HookAnnotation]
		holdsData := id.Kind == "PersistentVolumeClaim" || id.Kind == "Namespace"
		if owner == "other" || owner == "" && (!hook || !g.recorded[id] && holdsData) {
			out[id] = o.GetUID()
		}
	}
	return out
}
