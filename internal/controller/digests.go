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

// fingerprint is a hash by which contents are compared.
type fingerprint = [sha256.Size]byte

// stateDigest is a digest of all that a pass looks at. Two passes with the same one find the
// same state.
type stateDigest struct {
	// content stands for the HelmRelease with its status, dependencies for what it depends on:
	// source, values, dependencies, credentials.
	content, dependencies fingerprint
	// records stands for the release's records, objects for its live objects without their
	// status, if it has drift detection.
	records, objects fingerprint
	// blind is set if not all of these objects are watched: objects then says nothing about the rest.
	blind bool
}

// look returns the digest of a HelmRelease, from what is cached.
func (r *reconciler) look(ctx context.Context, hr *flux.HelmRelease) stateDigest {
	return stateDigest{
		blind:   hr.DriftMode() != "" && hr.Spec.KubeConfig == nil && !r.drift.watchesAllOf(hr),
		content: contentOf(hr), dependencies: r.dependencies(ctx, hr), records: r.records.of(storage(hr)),
		objects: r.drift.of(client.ObjectKey{Namespace: hr.Metadata.Namespace, Name: hr.Metadata.Name}),
	}
}

func contentOf(hr *flux.HelmRelease) fingerprint {
	status, _ := json.Marshal(hr.Status) // cannot fail: it was decoded from JSON
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{
		hr.Metadata.Generation, hr.Metadata.Annotations, hr.Metadata.Finalizers, hr.Metadata.DeletionTimestamp, string(status),
	})
	return fingerprint(h.Sum(nil))
}

// dependencies returns the state of what the HelmRelease depends on, mostly by resource
// versions; for an object that can't be read, the error counts.
func (r *reconciler) dependencies(ctx context.Context, hr *flux.HelmRelease) fingerprint {
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

// dependency returns the key of another HelmRelease that this one depends on.
func dependency(hr *flux.HelmRelease, on flux.Dependency) client.ObjectKey {
	on = on.In(hr.Metadata.Namespace)
	return client.ObjectKey{Namespace: on.Namespace, Name: on.Name}
}

// knows reports whether all HelmReleases that this one depends on are cached; those in
// another shard are not.
func (r *reconciler) knows(ctx context.Context, hr *flux.HelmRelease) bool {
	for _, dep := range hr.Spec.DependsOn {
		if r.client.Get(ctx, dependency(hr, dep), &helmRelease{}) != nil {
			return false
		}
	}
	return true
}

// watchesRecords reports whether the HelmRelease's records are watched: those on another cluster are not, nor those
// in another namespace, if only one is watched.
func (r *reconciler) watchesRecords(hr *flux.HelmRelease) bool {
	return hr.Spec.KubeConfig == nil && (r.options.WatchAllNamespaces || hr.StorageNamespace() == r.options.Namespace)
}

// storage returns the namespace of the HelmRelease's records, and the release's name.
func storage(hr *flux.HelmRelease) client.ObjectKey {
	return client.ObjectKey{Namespace: hr.StorageNamespace(), Name: hr.ReleaseName()}
}

// syncDigests are the digests of HelmReleases whose last pass left nothing to do.
type syncDigests struct {
	mu      sync.Mutex
	digests map[client.ObjectKey]stateDigest
}

// unchanged reports whether a pass would find everything as the last one left it in sync.
func (s *syncDigests) unchanged(key client.ObjectKey, m stateDigest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.digests[key]
	return ok && have == m
}

func (s *syncDigests) note(key client.ObjectKey, m stateDigest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digests[key] = m
}

func (s *syncDigests) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.digests, key)
}

// sums are fingerprints of sets: adding an element and removing it are the same operation.
type sums struct {
	mu      sync.Mutex
	digests map[client.ObjectKey]fingerprint
}

// toggle adds an element to the set of a key, or removes it.
func (s *sums) toggle(key client.ObjectKey, element string) {
	sum := sha256.Sum256([]byte(element))
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.digests[key]
	for i := range have {
		have[i] ^= sum[i]
	}
	if have == (fingerprint{}) {
		delete(s.digests, key)
		return
	}
	s.digests[key] = have
}

func (s *sums) of(key client.ObjectKey) fingerprint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.digests[key]
}

// recordDigests track which records releases have, by a watch of the metadata of Secrets.
// The digest of a release is the sum of the digests of its records.
type recordDigests struct{ sums }

// Helm's labels of release records.
const (
	ownerLabel = "owner"
	nameLabel  = "name"
	helmsOwner = "helm"
)

// toggle adds the record to the digest of its release, or removes it: each is its own inverse.
func (m *recordDigests) toggle(o metav1.Object) {
	labels := o.GetLabels()
	if labels[ownerLabel] != helmsOwner || labels[nameLabel] == "" {
		return
	}
	m.sums.toggle(client.ObjectKey{Namespace: o.GetNamespace(), Name: labels[nameLabel]}, string(o.GetUID())+" "+o.GetResourceVersion())
}
