package releasestore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

var _ apply.Store = (*Store)(nil)

// stoppedClock always tells the same time.
type stoppedClock struct{ now time.Time }

func (c stoppedClock) Now() time.Time                     { return c.now }
func (stoppedClock) Since(time.Time) time.Duration        { return 0 }
func (stoppedClock) After(time.Duration) <-chan time.Time { return make(chan time.Time) }

func testClock() Clock { return stoppedClock{time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)} }

// stores opens one store for every driver.
func stores(t *testing.T) map[string]*Store {
	t.Helper()
	client := fake.NewClientset().CoreV1()
	all := map[string]*Store{}
	for _, driver := range []string{"secret", "configmap", "memory"} {
		s, err := Open(client, driver, testClock())
		if err != nil {
			t.Fatal(err)
		}
		all[driver] = s
	}
	return all
}

func testKey() release.Key { return release.Key{Namespace: "shop", Name: "web"} }

func testRevision(version int, status release.Status) *release.Revision {
	deployed := time.Date(2026, 11, 20, 21, 0, 0, 123456789, time.UTC)
	return &release.Revision{
		Name: "web", Namespace: "shop", Version: version,
		Info: release.Info{FirstDeployed: deployed, LastDeployed: deployed, Status: status, Description: "Install complete"},
		Chart: &chart.Chart{
			Metadata:  &chart.Metadata{Name: "web", Version: "1.4.2", APIVersion: "v2"},
			Values:    map[string]any{"replicas": 2.0},
			Templates: []*chart.File{{Name: "templates/web.yaml", Data: []byte("kind: Service\n")}},
		},
		Config:   map[string]any{"image": map[string]any{"tag": "<2.0>"}},
		Manifest: "---\n# Source: web/templates/web.yaml\nkind: Service\n",
		Hooks: []release.Hook{{
			Hook:    manifest.Hook{Name: "smoke", Kind: "Job", Events: []manifest.Event{manifest.Test}, Weight: -5},
			LastRun: release.Execution{StartedAt: deployed, Phase: release.PhaseRunning},
		}},
		ApplyMethod: release.ServerSide,
		Labels:      map[string]string{"team": "shop"},
	}
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.FilterPath(unexported, cmp.Ignore())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func unexported(p cmp.Path) bool {
	field, ok := p.Last().(cmp.StructField)
	return ok && field.Name()[0] >= 'a' && field.Name()[0] <= 'z'
}

// What is stored comes back the same, with every driver and through a store
// that has never seen it.
func TestRoundTrip(t *testing.T) {
	client := fake.NewClientset().CoreV1()
	for _, driver := range []string{"secret", "configmap"} {
		t.Run(driver, func(t *testing.T) {
			writer, _ := Open(client, driver, testClock())
			reader, _ := Open(client, driver, testClock())
			first, second := testRevision(1, release.StatusSuperseded), testRevision(2, release.StatusDeployed)
			for _, r := range []*release.Revision{second, first} {
				if err := writer.Create(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			got, err := reader.History(t.Context(), testKey(), nil)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, release.History{first, second}, got)
		})
	}
}

// The life of a record is the same with every driver.
func TestLifeOfARecord(t *testing.T) {
	for driver, s := range stores(t) {
		t.Run(driver, func(t *testing.T) {
			r := testRevision(1, release.StatusPendingInstall)
			must(t, s.Create(t.Context(), r))
			must(t, s.Create(t.Context(), r)) // an answer was lost: the record is ours

			var exists *ExistsError
			if err := s.Create(t.Context(), testRevision(1, release.StatusFailed)); !errors.As(err, &exists) {
				t.Errorf("create with a number that is taken: %v", err)
			}

			must(t, s.Update(t.Context(), r.WithStatus(release.StatusDeployed, "done")))
			got, err := s.Get(t.Context(), testKey(), 1)
			must(t, err)
			want := r.WithStatus(release.StatusDeployed, "done")
			want.Modified = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC) // the test's clock
			equal(t, want, got)

			must(t, s.Delete(t.Context(), testKey(), 1))
			must(t, s.Delete(t.Context(), testKey(), 1)) // deleting a missing record is not an error

			var missing *NotFoundError
			if _, err := s.Get(t.Context(), testKey(), 1); !errors.As(err, &missing) {
				t.Errorf("get of a deleted record: %v", err)
			}
			if err := s.Update(t.Context(), r); !errors.As(err, &missing) {
				t.Errorf("update of a deleted record: %v", err)
			}
			h, err := s.History(t.Context(), testKey(), nil)
			must(t, err)
			if len(h) != 0 {
				t.Errorf("history of nothing: %v", h)
			}
		})
	}
}

// The names of drivers are those of HELM_DRIVER; an unknown one is an error.
func TestOpen(t *testing.T) {
	client := fake.NewClientset().CoreV1()
	for driver, kind := range map[string]string{
		"": "Secret", "secret": "Secret", "secrets": "Secret",
		"configmap": "ConfigMap", "configmaps": "ConfigMap", "memory": "record",
		"etcd": "",
	} {
		s, err := Open(client, driver, testClock())
		if (err != nil) != (kind == "") {
			t.Errorf("driver %q: %v", driver, err)
		}
		if err == nil && s.backend.kind() != kind {
			t.Errorf("driver %q keeps records in a %s", driver, s.backend.kind())
		}
	}
}

// Helm finds records by type, name and labels, so they are checked literally.
func TestStoredObject(t *testing.T) {
	client := fake.NewClientset().CoreV1()
	s, _ := Open(client, "", testClock())
	r := testRevision(7, release.StatusPendingUpgrade)
	must(t, s.Create(t.Context(), r))

	stored, err := client.Secrets("shop").Get(t.Context(), "sh.helm.release.v1.web.v7", metav1.GetOptions{})
	must(t, err)
	labels := map[string]string{
		"name": "web", "owner": "helm", "status": "pending-upgrade", "version": "7",
		"createdAt": "1795212000", "team": "shop",
	}
	equal(t, labels, stored.Labels)
	equal(t, "helm.sh/release.v1", string(stored.Type))
	if len(stored.Data) != 1 || len(stored.Data["release"]) == 0 {
		t.Errorf("keys of the Secret: %d", len(stored.Data))
	}

	stored.Annotations = map[string]string{"backup": "yes"}
	_, err = client.Secrets("shop").Update(t.Context(), stored, metav1.UpdateOptions{})
	must(t, err)
	_, err = s.History(t.Context(), testKey(), nil)
	must(t, err)
	must(t, s.Update(t.Context(), r.WithStatus(release.StatusDeployed, "")))
	stored, err = client.Secrets("shop").Get(t.Context(), "sh.helm.release.v1.web.v7", metav1.GetOptions{})
	must(t, err)
	labels["status"], labels["modifiedAt"] = "deployed", "1795212000"
	equal(t, labels, stored.Labels)
	equal(t, map[string]string{"backup": "yes"}, stored.Annotations)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// faulty is a memory backend that loses answers: the write happens, and the
// caller sees a timeout.
type faulty struct {
	*memoryBackend
	lose, strays int
}

func (f *faulty) answer(o object, err error) (object, error) {
	if err == nil && f.lose > 0 {
		f.lose--
		return object{}, apierrors.NewTimeoutError("the answer was lost", 0)
	}
	return o, err
}

func (f *faulty) create(ctx context.Context, o object) (object, error) {
	return f.answer(f.memoryBackend.create(ctx, o))
}

func (f *faulty) update(ctx context.Context, o object) (object, error) {
	return f.answer(f.memoryBackend.update(ctx, o))
}

func (f *faulty) delete(ctx context.Context, at location, o metav1.DeleteOptions) error {
	if f.strays > 0 {
		f.strays--
		return errStray
	}
	return f.memoryBackend.delete(ctx, at, o)
}

// A 404 that a proxy sends in the API server's place does not say that a record was deleted.
func TestAProxysAnswerDeletesNothing(t *testing.T) {
	backend := &faulty{memoryBackend: newMemoryBackend(), strays: 1}
	s := open(backend, testClock())
	must(t, s.Create(t.Context(), testRevision(1, release.StatusDeployed)))
	if err := s.Delete(t.Context(), testKey(), 1); !retry.Passes(err) {
		t.Errorf("a delete that a proxy has answered: %v", err)
	}
	must(t, s.Delete(t.Context(), testKey(), 1))
	var none *NotFoundError
	if _, err := s.Get(t.Context(), testKey(), 1); !errors.As(err, &none) {
		t.Errorf("the record is still there: %v", err)
	}
}

// A write whose answer was lost is recognised as our own when it is repeated,
// or when a later state of the same revision is written.
func TestLostAnswers(t *testing.T) {
	backend := &faulty{memoryBackend: newMemoryBackend()}
	s := open(backend, testClock())
	r := testRevision(1, release.StatusPendingInstall)

	backend.lose = 1
	if err := s.Create(t.Context(), r); !apierrors.IsTimeout(err) {
		t.Fatalf("create whose answer is lost: %v", err)
	}
	must(t, s.Create(t.Context(), r))

	backend.lose = 1
	deployed := r.WithStatus(release.StatusDeployed, "done")
	if err := s.Update(t.Context(), deployed); !apierrors.IsTimeout(err) {
		t.Fatalf("update whose answer is lost: %v", err)
	}
	must(t, s.Update(t.Context(), deployed))

	backend.lose = 1
	if err := s.Update(t.Context(), r.WithStatus(release.StatusFailed, "one")); !apierrors.IsTimeout(err) {
		t.Fatalf("update whose answer is lost: %v", err)
	}
	must(t, s.Update(t.Context(), r.WithStatus(release.StatusSuperseded, "two")))

	backend.lose = 1
	if err := s.Update(t.Context(), deployed); !apierrors.IsTimeout(err) {
		t.Fatalf("update whose answer is lost: %v", err)
	}
	must(t, s.Delete(t.Context(), testKey(), 1))
}

// Two processes read the same record: the first to write wins, the other gets
// an error, and may write after reading again.
func TestConflict(t *testing.T) {
	backend := newMemoryBackend()
	ours, theirs := open(backend, testClock()), open(backend, testClock())
	must(t, theirs.Create(t.Context(), testRevision(1, release.StatusDeployed)))
	mine, err := ours.Get(t.Context(), testKey(), 1)
	must(t, err)
	must(t, theirs.Update(t.Context(), mine.WithStatus(release.StatusFailed, "theirs")))

	var conflict *ConflictError
	if err := ours.Update(t.Context(), mine.WithStatus(release.StatusSuperseded, "ours")); !errors.As(err, &conflict) {
		t.Fatalf("update of what others changed: %v", err)
	}
	equal(t, "record of web revision 1 (record shop/sh.helm.release.v1.web.v1): someone else has changed it in the meantime", conflict.Error())
	if err := ours.Delete(t.Context(), testKey(), 1); !errors.As(err, &conflict) {
		t.Fatalf("delete of what others changed: %v", err)
	}
	_, err = ours.History(t.Context(), testKey(), nil)
	must(t, err)
	must(t, ours.Update(t.Context(), mine.WithStatus(release.StatusSuperseded, "ours")))
}

// A backup tool that labels or annotates a record does not count as changing it.
func TestForeignMetadataIsNoConflict(t *testing.T) {
	backend := newMemoryBackend()
	s := open(backend, testClock())
	r := testRevision(1, release.StatusDeployed)
	must(t, s.Create(t.Context(), r))
	o, err := backend.get(t.Context(), location{"shop", ObjectName("web", 1)})
	must(t, err)
	o.meta.Annotations = map[string]string{"backup": "yes"}
	_, err = backend.update(t.Context(), o)
	must(t, err)

	must(t, s.Update(t.Context(), r.WithStatus(release.StatusSuperseded, "")))
	o, err = backend.get(t.Context(), location{"shop", ObjectName("web", 1)})
	must(t, err)
	equal(t, map[string]string{"backup": "yes"}, o.meta.Annotations)
}
