package releasestore

import (
	"crypto/sha256"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versionCache holds the last version of each record that the store has seen.
type versionCache struct {
	mu   sync.Mutex
	seen map[location]*cachedVersion
}

// cachedVersion is the last version of one record that was seen: the object's metadata, and hashes
// of the contents that this store accepts as known: what it last read or wrote, and what it has
// sent since without a response.
type cachedVersion struct {
	meta metav1.ObjectMeta
	ours map[[sha256.Size]byte]bool
}

// saw remembers the object's present version.
func (m *versionCache) saw(o object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[o.location()] = &cachedVersion{
		meta: o.meta,
		ours: map[[sha256.Size]byte]bool{sha256.Sum256([]byte(o.record)): true},
	}
}

// sent remembers that the record may become the object's content although no response has confirmed
// it.
func (m *versionCache) sent(o object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.seen[o.location()]; s != nil {
		s.ours[sha256.Sum256([]byte(o.record))] = true
	}
}

// meta returns the metadata that was last seen.
func (m *versionCache) meta(at location) (metav1.ObjectMeta, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seen[at]
	if s == nil {
		return metav1.ObjectMeta{}, false
	}
	return *s.meta.DeepCopy(), true
}

// known reports whether this store has read or sent the object's content. If so, others have changed
// only its metadata, or a response was lost.
func (m *versionCache) known(o object) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seen[o.location()]
	return s != nil && s.ours[sha256.Sum256([]byte(o.record))]
}

func (m *versionCache) forget(at location) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, at)
}
