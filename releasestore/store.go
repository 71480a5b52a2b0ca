// Package releasestore keeps release records where Helm keeps them and in Helm's format: one Secret,
// ConfigMap or row of a PostgreSQL database per revision; or in memory, for tests. It also holds the
// lock that lets only one operation at a time work on a release.
//
// It does not decide which revisions to write, supersede or prune (package plan does), does not
// retry writes (package apply does) and knows nothing of a release but its records.
package releasestore

import (
	"fmt"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Client is what the store needs from an API client. A CoreV1Interface is one.
type Client interface {
	corev1client.SecretsGetter
	corev1client.ConfigMapsGetter
}

// Store reads and writes release records. It remembers which version of each
// record it has seen, so a write never overwrites what another process wrote in
// between. It is safe for concurrent use.
type Store struct {
	backend retryingReads
	clock   Clock
	memory  versionCache
}

// Open returns the store for a driver, with the names of HELM_DRIVER (Helm 4.3.1):
// "", "secret" and "secrets"; "configmap" and "configmaps"; "memory", which starts
// empty and needs no client. Other names are an error; for "sql" see OpenSQL.
func Open(client Client, driver string, clock Clock) (*Store, error) {
	switch driver {
	case "", "secret", "secrets":
		return open(secrets{client}, clock), nil
	case "configmap", "configmaps":
		return open(configMaps{client}, clock), nil
	case "memory":
		return open(newMemoryBackend(), clock), nil
	default:
		return nil, fmt.Errorf("open release store: HELM_DRIVER=%q is not one of secret, configmap, sql, memory", driver)
	}
}

// Kind returns the kind of object that holds a record: "Secret", "ConfigMap", "SQL
// row", or "record" when they are kept in memory.
func (s *Store) Kind() string { return s.backend.kind() }

// Namespace returns the namespace that holds the records of the releases in a namespace: the
// same one, unless the store comes from In.
func (s *Store) Namespace(releases string) string {
	if b, ok := s.backend.backend.(relocated); ok {
		return b.there(location{namespace: releases}).namespace
	}
	return releases
}

// MaxSize returns the most bytes that a record may have, packed; 0 means no limit.
func (s *Store) MaxSize() int { return s.backend.maxSize() }

func open(b backend, clock Clock) *Store {
	return &Store{backend: retryingReads{b, clock}, clock: clock, memory: versionCache{seen: map[location]*cachedVersion{}}}
}
