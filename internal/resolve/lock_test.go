package resolve

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// The digests are Helm 4.3.1's.
func TestLockDigest(t *testing.T) {
	range1 := []*chart.Dependency{{Name: "alpha", Version: ">=0.5.0 <2", Repository: "http://h/"}}
	for name, tc := range map[string]struct {
		declared []*chart.Dependency
		chosen   []Locked
		json     string
	}{
		"none":    {nil, nil, `[[],[]]`},
		"escapes": {range1, []Locked{{Name: "alpha", Version: "1.0.0", Repository: "http://h/", Digest: "sha256:ignored"}}, `[[{"name":"alpha","version":"\u003e=0.5.0 \u003c2","repository":"http://h/"}],[{"name":"alpha","version":"1.0.0","repository":"http://h/"}]]`},
		"no version": {
			[]*chart.Dependency{{Name: "hand", Alias: "h", Tags: []string{"x", "true"}, ImportValues: []any{map[string]any{"parent": "p", "child": "c"}}}},
			[]Locked{{Name: "hand"}},
			`[[{"name":"hand","repository":"","tags":["x","true"],"import-values":[{"child":"c","parent":"p"}],"alias":"h"}],[{"name":"hand","repository":""}]]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := LockDigest(tc.declared, tc.chosen)
			if want := sumOf(tc.json); err != nil || got != want {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
		})
	}
	if got, _ := LockDigest(nil, nil); got != "sha256:643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726" {
		t.Error(got)
	}
}

func sumOf(text string) string {
	digest, _ := jsonDigest(rawJSON(text))
	return digest
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestLockFile(t *testing.T) {
	const hex = "643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726"
	now := time.Date(2026, 11, 21, 21, 15, 20, 123456789, time.FixedZone("", 3600))
	lock, err := NewLock([]*chart.Dependency{{Name: "a", Version: "1.x"}}, []Locked{{Name: "a", Version: "1.0.0", Repository: "http://h", Digest: "sha256:" + hex}}, now)
	if err != nil {
		t.Fatal(err)
	}
	data, err := lock.Bytes()
	want := "dependencies:\n- digest: sha256:" + hex + "\n  name: a\n  repository: http://h\n  version: 1.0.0\ndigest: " + lock.Digest + "\ngenerated: \"2026-11-21T21:15:20.123456789+01:00\"\n"
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	read, err := ParseLock(data)
	if err != nil || !lock.Same(read) || read.Generated != lock.Generated {
		t.Errorf("%+v, %v", read, err)
	}
	for name, text := range map[string]string{
		"null": "dependencies: [null]", "digest": "dependencies: [{name: a, digest: 'md5:1'}]", "list": "[]", "text": "x",
		"many": "dependencies: [" + strings.Repeat("{},", maxLocked+1) + "]",
	} {
		if _, err := ParseLock([]byte(text)); err == nil {
			t.Errorf("%s is a lock", name)
		}
	}
}

func TestInSync(t *testing.T) {
	declared := func(repository, version string) []*chart.Dependency {
		return []*chart.Dependency{{Name: "a", Version: version, Repository: repository}}
	}
	made := func(repository, version, chosen string) *Lock {
		lock, err := NewLock(declared(repository, version), []Locked{{Name: "a", Version: chosen, Repository: repository}}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	edited := made("http://h", "^1", "1.0.0")
	edited.Dependencies[0].Version = "1.1.0"
	short := made("http://h", "^1", "1.0.0")
	short.Dependencies = nil
	for name, tc := range map[string]struct {
		declared []*chart.Dependency
		lock     *Lock
		why      string
	}{
		"same":          {declared("http://h", "^1"), made("http://h", "^1", "1.0.0"), ""},
		"a slash more":  {declared("http://h/", "^1"), made("http://h", "^1", "1.0.0"), ""},
		"a slash less":  {declared("http://h", "^1"), made("http://h/", "^1", "1.0.0"), ""},
		"another place": {declared("http://other", "^1"), made("http://h", "^1", "1.0.0"), `a is from "http://h", not from "http://other"`},
		"another range": {declared("http://h", "^2"), made("http://h", "^1", "1.0.0"), `a: version 1.0.0 does not satisfy "^2"`},
		"a wider range": {declared("http://h", ">=1"), made("http://h", "^1", "1.0.0"), "edited by hand"},
		"edited":        {declared("http://h", "^1"), edited, "edited by hand"},
		"too short":     {declared("http://h", "^1"), short, "a is not in it"},
		"too long":      {nil, made("http://h", "^1", "1.0.0"), "a is no longer a dependency"},
		"no repository": {declared("", "1.x"), made("", "1.x", "1.x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := InSync(&chart.Metadata{APIVersion: chart.APIVersionV2}, tc.declared, tc.lock)
			if tc.why == "" && err != nil {
				t.Error(err)
			}
			if _, is := errors.AsType[*OutOfSyncError](err); tc.why != "" && (!is || !strings.Contains(err.Error(), tc.why)) {
				t.Errorf("%v, want %q", err, tc.why)
			}
		})
	}
}
