package releasestore

import (
	"crypto/sha256"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versionCache is what the store has seen of each record.
type versionCache struct {
	mu   sync.Mutex
	seen map[location]*cachedVersion
}

// cachedVersion is the last that was seen of one record: the metadata of the object,
// and the contents that don't come from somebody else, namely what was last
// read or written and what was sent since and never answered.
type cachedVersion struct {
	meta metav1.ObjectMeta
	ours map[[sha256.Size]byte]bool
}

// saw remembers the object as it is now.
func (m *versionCache) saw(o object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[o.location()] = &cachedVersion{
		meta: o.meta,
		ours: map[[sha256.Size]byte]bool{sha256.Sum256([]byte(o.record)): true},
	}
}

// sent remembers that the record may become this object's content although no
// answer says so.
func (m *versionCache) sent(o object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.seen[o.location()]; s != nil {
		s.ours[sha256.Sum256([]byte(o.record))] = true
	}
}

// meta is the metadata last seen.
func (m *versionCache) meta(at location) (metav1.ObjectMeta, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seen[at]
	if s == nil {
		return metav1.ObjectMeta{}, false
	}
	return *s.meta.DeepCopy(), true
}

// known reports whether the object's content is one that this store has read or
// sent: its metadata alone was changed by others, or an answer was lost.
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
