package controller

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// fingerprint tells contents apart.
type fingerprint = [sha256.Size]byte

// mark is all that a pass looks at, in short. Two passes of the same mark find the
// same.
type mark struct {
	// content is the HelmRelease with its status, around what it depends on: source,
	// values, dependencies, credentials.
	content, around fingerprint
	// records are those of the release, objects what of its live ones is not their status,
	// where drift is looked for.
	records, objects fingerprint
}

// look takes the mark of a HelmRelease out of what is cached.
func (r *reconciler) look(ctx context.Context, hr *flux.HelmRelease) mark {
	return mark{
		content: contentOf(hr), around: r.around(ctx, hr), records: r.records.of(storage(hr)),
		objects: r.drift.of(client.ObjectKey{Namespace: hr.Metadata.Namespace, Name: hr.Metadata.Name}),
	}
}

func contentOf(hr *flux.HelmRelease) fingerprint {
	status, _ := json.Marshal(hr.Status) // which was decoded from JSON
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{
		hr.Metadata.Generation, hr.Metadata.Annotations, hr.Metadata.Finalizers, hr.Metadata.DeletionTimestamp, string(status),
	})
	return fingerprint(h.Sum(nil))
}

// around is the state of what the HelmRelease depends on, by resource versions: of an
// object that can't be looked up it is the error.
func (r *reconciler) around(ctx context.Context, hr *flux.HelmRelease) fingerprint {
	h := sha256.New()
	note := func(v ...any) { _ = json.NewEncoder(h).Encode(v) }
	version := func(kind string, key client.ObjectKey) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		err := r.client.Get(ctx, key, o)
		note(kind, key, o.UID, o.ResourceVersion, fmt.Sprint(err))
	}
	if made := madeSource(hr); made != nil {
		note(made.Object)
	}
	source, err := r.source(ctx, hr.ChartSource())
	if err != nil {
		note(err.Error())
	} else {
		note(source.Object)
	}
	local := func(name string) client.ObjectKey {
		return client.ObjectKey{Namespace: hr.Metadata.Namespace, Name: name}
	}
	for _, ref := range hr.Spec.ValuesFrom {
		version(ref.Kind, local(ref.Name))
	}
	if holder := hr.Spec.KubeConfig.Holder(); holder != nil {
		version(holder.Kind, local(holder.Name))
	}
	for _, dep := range hr.Spec.DependsOn {
		key := dependency(hr, dep)
		o := &helmRelease{}
		err := r.client.Get(ctx, key, o)
		note(key, o.UID, o.ResourceVersion, fmt.Sprint(err))
	}
	return fingerprint(h.Sum(nil))
}

// dependency is where what the HelmRelease depends on is.
func dependency(hr *flux.HelmRelease, on flux.Dependency) client.ObjectKey {
	on = on.In(hr.Metadata.Namespace)
	return client.ObjectKey{Namespace: on.Namespace, Name: on.Name}
}

// knows says whether all that the HelmRelease depends on is cached: what is in another
// shard is not.
func (r *reconciler) knows(ctx context.Context, hr *flux.HelmRelease) bool {
	for _, dep := range hr.Spec.DependsOn {
		if r.client.Get(ctx, dependency(hr, dep), &helmRelease{}) != nil {
			return false
		}
	}
	return true
}

// storage is where the records of the HelmRelease are.
func storage(hr *flux.HelmRelease) client.ObjectKey {
	return client.ObjectKey{Namespace: hr.StorageNamespace(), Name: hr.ReleaseName()}
}

// syncMarks are the marks of HelmReleases whose last pass found nothing to do, or has
// done all.
type syncMarks struct {
	mu    sync.Mutex
	marks map[client.ObjectKey]mark
}

// unchanged says whether a pass would find what the last one has left in sync.
func (s *syncMarks) unchanged(key client.ObjectKey, m mark) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.marks[key]
	return ok && have == m
}

func (s *syncMarks) note(key client.ObjectKey, m mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks[key] = m
}

func (s *syncMarks) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.marks, key)
}

// sums are fingerprints of sets: adding something and taking it away are the same.
type sums struct {
	mu    sync.Mutex
	marks map[client.ObjectKey]fingerprint
}

func (s *sums) flip(key client.ObjectKey, element string) {
	sum := sha256.Sum256([]byte(element))
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.marks[key]
	for i := range have {
		have[i] ^= sum[i]
	}
	if have == (fingerprint{}) {
		delete(s.marks, key)
		return
	}
	s.marks[key] = have
}

func (s *sums) of(key client.ObjectKey) fingerprint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marks[key]
}

// recordMarks tell which records releases have, by a watch of the metadata of
// Secrets. The mark of a release is the sum of those of its records.
type recordMarks struct{ sums }

// Labels of release records, which are Helm's.
const (
	ownerLabel = "owner"
	nameLabel  = "name"
	helmsOwner = "helm"
)

// turn adds the record to the mark of its release, or takes it away: the one is the
// other's inverse.
func (m *recordMarks) turn(o metav1.Object) {
	labels := o.GetLabels()
	if labels[ownerLabel] != helmsOwner || labels[nameLabel] == "" {
		return
	}
	m.flip(client.ObjectKey{Namespace: o.GetNamespace(), Name: labels[nameLabel]}, string(o.GetUID())+" "+o.GetResourceVersion())
}
