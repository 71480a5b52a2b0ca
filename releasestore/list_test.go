package releasestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// between is a backend on which something happens after the metadata has been listed. It
// notes which records are read in full.
type between struct {
	backend
	happens func()
	texts   []string
}

func (b *between) list(ctx context.Context, namespace string, o listOptions) ([]object, string, error) {
	found, next, err := b.backend.list(ctx, namespace, o)
	if o.metadataOnly {
		b.happens()
	} else {
		for _, o := range found {
			b.texts = append(b.texts, o.meta.Name)
		}
	}
	return found, next, err
}

func (b *between) get(ctx context.Context, at location) (object, error) {
	b.texts = append(b.texts, at.name)
	return b.backend.get(ctx, at)
}

// names returns releases as name, revision and status.
func names(revisions []*release.Revision) string {
	var out []string
	for _, r := range revisions {
		out = append(out, fmt.Sprintf("%s%d:%s", r.Name, r.Version, r.Info.Status))
	}
	return strings.Join(out, " ")
}

// Of ten revisions only one is read in full.
func TestListAsksForNoOtherText(t *testing.T) {
	b := &between{backend: newMemoryBackend(), happens: func() {}}
	s := open(b, testClock())
	for version := 1; version <= 9; version++ {
		must(t, s.Create(t.Context(), testRevision(version, release.StatusSuperseded)))
	}
	must(t, s.Create(t.Context(), testRevision(10, release.StatusDeployed)))
	stuck := testRevision(3, release.StatusSuperseded) // killed before the next one was deployed
	stuck.Name = "stuck"
	must(t, s.Create(t.Context(), stuck))
	got, err := s.List(t.Context(), Query{})
	must(t, err)
	equal(t, "stuck3:superseded web10:deployed", names(got))
	equal(t, []string{"sh.helm.release.v1.web.v10", "sh.helm.release.v1.stuck.v3"}, b.texts)
}

func TestListEveryRevision(t *testing.T) {
	s := open(newMemoryBackend(), testClock())
	for version := 1; version <= 2*few; version++ {
		must(t, s.Create(t.Context(), testRevision(version, release.StatusSuperseded)))
	}
	must(t, s.Create(t.Context(), testRevision(2*few+1, release.StatusDeployed)))
	got, err := s.List(t.Context(), Query{EveryRevision: true, Statuses: []release.Status{release.StatusSuperseded}})
	must(t, err)
	equal(t, 2*few, len(got))
	equal(t, "web1:superseded web2:superseded", names(got[:2]))
}

// A revision that is superseded between two requests is not shown: the list shows a later moment.
func TestListOfWhatMoves(t *testing.T) {
	memory := newMemoryBackend()
	writer := open(memory, testClock())
	version := 1
	must(t, writer.Create(t.Context(), testRevision(version, release.StatusDeployed)))
	upgrade := func() {
		must(t, writer.Update(t.Context(), testRevision(version, release.StatusSuperseded)))
		version++
		must(t, writer.Create(t.Context(), testRevision(version, release.StatusDeployed)))
	}
	once := true
	s := open(&between{backend: memory, happens: func() {
		if once {
			upgrade()
		}
		once = false
	}}, testClock())
	got, err := s.List(t.Context(), Query{})
	must(t, err)
	equal(t, "web2:deployed", names(got))

	// Constant upgrades do not keep the list from ending.
	got, err = open(&between{backend: memory, happens: upgrade}, testClock()).List(t.Context(), Query{})
	must(t, err)
	equal(t, "web4:superseded", names(got))
	equal(t, 5, version)

	// Nor do deletions in the meantime.
	got, err = open(&between{backend: memory, happens: func() { _ = writer.Delete(t.Context(), testKey(), version) }}, testClock()).List(t.Context(), Query{})
	must(t, err)
	equal(t, "web4:superseded", names(got))
}

// Metadata is read as protobuf, as JSON, and from whole objects if the server can send nothing
// else.
func TestListMetadata(t *testing.T) {
	item := metav1.ObjectMeta{Namespace: "shop", Name: "sh.helm.release.v1.web.v7", UID: "u", ResourceVersion: "12", Labels: map[string]string{"owner": "helm", "version": "7"}}
	heads := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}, ListMeta: metav1.ListMeta{Continue: "more"}, Items: []metav1.PartialObjectMetadata{{ObjectMeta: item}}}
	whole := &corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}, ListMeta: heads.ListMeta, Items: []corev1.Secret{{ObjectMeta: item, Data: map[string][]byte{"release": []byte("x")}}}}
	known := runtime.NewScheme()
	must(t, metav1.AddMetaToScheme(known))
	for name, c := range map[string]struct {
		contentType string
		encode      func(w http.ResponseWriter) error
	}{
		"protobuf": {"application/vnd.kubernetes.protobuf", func(w http.ResponseWriter) error {
			return protobuf.NewSerializer(known, known).Encode(heads, w)
		}},
		"JSON":  {"application/json", func(w http.ResponseWriter) error { return json.NewEncoder(w).Encode(heads) }},
		"whole": {"application/json", func(w http.ResponseWriter) error { return json.NewEncoder(w).Encode(whole) }},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/namespaces/shop/secrets" || r.URL.RawQuery != "labelSelector=owner%3Dhelm&limit=2" || !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
					http.Error(w, "not asked for metadata", http.StatusBadRequest)
					return
				}
				w.Header().Set("Content-Type", c.contentType)
				if err := c.encode(w); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			client, err := corev1client.NewForConfig(&rest.Config{Host: server.URL})
			must(t, err)
			found, next, err := secrets{client}.list(t.Context(), "shop", listOptions{ListOptions: metav1.ListOptions{LabelSelector: "owner=helm", Limit: 2}, metadataOnly: true})
			must(t, err)
			if next != "more" || !slices.EqualFunc(found, []object{{meta: item}}, func(a, b object) bool {
				return fmt.Sprint(a) == fmt.Sprint(b)
			}) {
				t.Errorf("%+v, next %q", found, next)
			}
		})
	}
}

// A refusal keeps the server's message and reason.
func TestListMetadataRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("not yours")).Status()
		refusal.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		if err := json.NewEncoder(w).Encode(refusal); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	client, err := corev1client.NewForConfig(&rest.Config{Host: server.URL})
	must(t, err)
	s, err := Open(client, "", testClock())
	must(t, err)
	if _, err := s.List(t.Context(), Query{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "not yours") {
		t.Errorf("error %v", err)
	}
}
