package outputfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSwap(t *testing.T) {
	dir := t.TempDir()
	staged, target := filepath.Join(dir, "staged"), filepath.Join(dir, "target")
	write := func(folder, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "file"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(folder string) string {
		data, _ := os.ReadFile(filepath.Join(folder, "file"))
		return string(data)
	}
	write(staged, "first")
	if err := Swap(staged, target); err != nil || read(target) != "first" || read(staged) != "" {
		t.Fatalf("%v: %q, %q", err, read(target), read(staged))
	}
	write(staged, "second")
	if err := Swap(staged, target); err != nil || read(target) != "second" || read(staged) != "first" {
		t.Fatalf("%v: %q, %q", err, read(target), read(staged))
	}
	if err := Swap(filepath.Join(dir, "missing"), target); err == nil || read(target) != "second" {
		t.Errorf("%v: %q", err, read(target))
	}
}
