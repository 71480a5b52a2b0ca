package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A first entry makes the file that helm repo add makes of an empty one, byte for byte.
func TestFirstRepository(t *testing.T) {
	r, err := ParseRepositories(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Set(Repository{Name: "n", URL: "https://h"}); err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: ""
generated: "0001-01-01T00:00:00Z"
repositories:
- caFile: ""
  certFile: ""
  insecure_skip_tls_verify: false
  keyFile: ""
  name: "n"
  pass_credentials_all: false
  password: ""
  url: https://h
  username: ""
`
	got, err := r.Bytes()
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Keys in the file that we do not know survive.
func TestUnknownKeysSurvive(t *testing.T) {
	r, err := ParseRepositories([]byte("apiVersion: v1\nextra: 1\nrepositories:\n- name: a\n  url: https://a\n  more: x\n- name: b\n  url: https://b/\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Set(Repository{Name: "a", URL: "https://c", Username: "u"}); err != nil {
		t.Fatal(err)
	}
	if !r.Remove("b") || r.Remove("b") {
		t.Error("b is removed once")
	}
	want := `apiVersion: v1
extra: 1
generated: "0001-01-01T00:00:00Z"
repositories:
- caFile: ""
  certFile: ""
  insecure_skip_tls_verify: false
  keyFile: ""
  more: x
  name: a
  pass_credentials_all: false
  password: ""
  url: https://c
  username: u
`
	got, err := r.Bytes()
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if e, ok := r.At("https://c/"); !ok || e.Name != "a" {
		t.Errorf("%+v", e)
	}
	if _, ok := r.At("https://b"); ok {
		t.Error("b is still there")
	}
}

func TestRepositoriesRefuse(t *testing.T) {
	for _, text := range []string{"[]", "repositories: [null]", "repositories: 1", "\x00"} {
		if _, err := ParseRepositories([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	r, _ := ParseRepositories(nil)
	for _, name := range []string{"", "x/y", `x\y`, ".", "..", "-x", "a\x1b[1m"} {
		if r.Set(Repository{Name: name}) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
