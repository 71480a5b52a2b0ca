package resolve

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Locked is a dependency in Chart.lock.
type Locked struct {
	// Digest is the archive's digest, "sha256:" and hex. It is "" for charts that are folders, and in
	// locks that Helm wrote: Helm ignores it, and drops it when it writes the lock.
	Digest     string `json:"digest,omitempty"`
	Name       string `json:"name"`
	Repository string `json:"repository"`
	Version    string `json:"version,omitempty"`
}

// LockName returns the file name of a chart's lock.
func LockName(m *chart.Metadata) string {
	if m.APIVersion == chart.APIVersionV1 {
		return "requirements.lock"
	}
	return "Chart.lock"
}

// Lock is Chart.lock, or the requirements.lock of a v1 chart.
type Lock struct {
	// Dependencies are in the order of Chart.yaml.
	Dependencies []Locked `json:"dependencies"`
	// Digest is the result of LockDigest.
	Digest string `json:"digest"`
	// Generated is when the lock was made, in RFC 3339.
	Generated string `json:"generated"`
}

// maxLocked limits the number of dependencies in a lock.
const maxLocked = 10_000

// ParseLock parses a lock. Errors: it is not YAML, or has an empty entry, an invalid digest, or too
// many dependencies.
func ParseLock(data []byte) (*Lock, error) {
	var typed struct {
		Lock
		Dependencies []*Locked `json:"dependencies"`
	}
	if err := yaml.Unmarshal(data, &typed); err != nil {
		return nil, err
	}
	if len(typed.Dependencies) > maxLocked {
		return nil, fmt.Errorf("it has more than %d dependencies", maxLocked)
	}
	l := typed.Lock
	l.Dependencies = nil
	for _, d := range typed.Dependencies {
		if d == nil {
			return nil, errors.New("dependencies must not contain an empty entry")
		}
		if d.Digest != "" {
			var err error
			if d.Digest, err = Digest(d.Digest); err != nil {
				return nil, fmt.Errorf("dependency %s: %w", d.Name, err)
			}
		}
		l.Dependencies = append(l.Dependencies, *d)
	}
	return &l, nil
}

// LockIn returns the lock of a loaded chart, or nil. Errors: it can't be parsed.
func LockIn(c *chart.Chart) (*Lock, error) {
	for _, f := range c.Raw {
		if f.Name == LockName(c.Metadata) {
			return ParseLock(f.Data)
		}
	}
	return nil, nil
}

// NewLock returns the lock for declared, the dependencies of Chart.yaml as Declared returns them,
// and chosen, what was chosen for each.
func NewLock(declared []*chart.Dependency, chosen []Locked, now time.Time) (*Lock, error) {
	digest, err := LockDigest(declared, chosen)
	if err != nil {
		return nil, err
	}
	return &Lock{Dependencies: chosen, Digest: digest, Generated: now.Format(time.RFC3339Nano)}, nil
}

// Bytes returns the file as Helm 4.3.1 writes it, with the archives' digests added.
func (l *Lock) Bytes() ([]byte, error) { return yaml.Marshal(l) }

// Same reports whether two locks are equal, ignoring when they were generated.
func (l *Lock) Same(other *Lock) bool {
	return other != nil && l.Digest == other.Digest && slices.Equal(l.Dependencies, other.Dependencies)
}

// LockDigest returns Helm 4.3.1's digest of dependencies and what was chosen for them
// (internal/resolver/resolver.go, HashReq): the SHA-256 of both lists as Go encodes them in JSON.
func LockDigest(declared []*chart.Dependency, chosen []Locked) (string, error) {
	both := [2][]*chart.Dependency{append([]*chart.Dependency{}, declared...), {}}
	for _, c := range chosen {
		both[1] = append(both[1], &chart.Dependency{Name: c.Name, Version: c.Version, Repository: c.Repository})
	}
	return jsonDigest(both)
}

// oldLockDigest returns Helm 2's digest (HashV2Req in the same file), which v1 charts may still
// have. It does not cover what was chosen.
func oldLockDigest(declared []*chart.Dependency) (string, error) {
	return jsonDigest(struct {
		Dependencies []*chart.Dependency `json:"dependencies"`
	}{declared})
}

func jsonDigest(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Pins reports whether the lock has the digest of any archive.
func (l *Lock) Pins() bool {
	return slices.ContainsFunc(l.Dependencies, func(d Locked) bool { return d.Digest != "" })
}

// DigestOf returns the digest that an archive of a chart should have, or "" if it may have any: if the
// lock has none for charts of that name, or this version may be that of a dependency without one.
func (l *Lock) DigestOf(name, version string) string {
	want := ""
	for _, d := range l.Dependencies {
		switch {
		case d.Name != name:
		case d.Digest == "" && Satisfies(&chart.Dependency{Version: d.Version}, version) == nil:
			return ""
		case want == "" || strings.TrimPrefix(d.Version, "v") == strings.TrimPrefix(version, "v"):
			want = cmp.Or(d.Digest, want)
		}
	}
	return want
}

// Promises reports whether some dependency in the lock has the digest.
func (l *Lock) Promises(digest string) bool {
	return slices.ContainsFunc(l.Dependencies, func(d Locked) bool { return d.Digest == digest })
}
