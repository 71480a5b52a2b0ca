package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// TestPluginErrors: what a plugin prints on its standard error has neither the password that it was given nor those
// in URLs, however it is split and whether its last line ends or not.
func TestPluginErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.yaml": "name: test\nversion: 1.0.0\nusage: x\ndescription: x\ndownloaders:\n- command: get\n  protocols: [t]\n",
		"get":         "#!/bin/sh\nprintf '> Authorization: hunter' >&2\nsleep 0.1\nprintf '22hunter\\nGET %s' \"$4\" >&2\necho chart\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "test"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "test", name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var said strings.Builder
	s := &Sources{Paths: Paths{Plugins: dir}, Settings: resolve.Settings{Plugins: []string{"test"}}, PluginErrors: &said}
	resp, err := s.get(t.Context(), request{url: "t://bob:swordfish@host/values.yaml", access: Access{Username: "bob", Password: "hunter22hunter"}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := readBody(resp, "values.yaml", 100)
	if err != nil || string(data) != "chart\n" {
		t.Errorf("fetched %q, error %v", data, err)
	}
	s.PluginErrors = nil
	if _, err := s.File(t.Context(), "t://host/values.yaml", 100); err != nil {
		t.Errorf("nobody reads its standard error: %v", err)
	}
	for _, secret := range []string{"hunter", "swordfish"} {
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s is in %s", secret, said.String())
		}
	}
	for _, want := range []string{"> Authorization: ", "GET t://", "host/values.yaml"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in %s", want, said.String())
		}
	}
}
