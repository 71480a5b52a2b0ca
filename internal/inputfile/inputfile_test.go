package inputfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// layout makes a folder of files and, where the text begins with "-> ", links.
func layout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if len(text) > 3 && text[:3] == "-> " {
			err = os.Symlink(text[3:], path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A file that is a link is read if it stays in its folder, and refused if it leads to what
// somebody else keeps elsewhere, or hidden beside it.
func TestReadInside(t *testing.T) {
	dir := layout(t, map[string]string{
		"secret":                    "canary",
		"repo/.git/config":          "canary",
		"repo/.env":                 "canary",
		"repo/plain.yaml":           "a: 1",
		"repo/common/x.yaml":        "a: 1",
		"repo/beside.yaml":          "-> plain.yaml",
		"repo/below.yaml":           "-> common/x.yaml",
		"repo/twice.yaml":           "-> beside.yaml",
		"repo/out.yaml":             "-> ../secret",
		"repo/round.yaml":           "-> ../repo/plain.yaml",
		"repo/far.yaml":             "-> /etc/passwd",
		"repo/git.yaml":             "-> .git/config",
		"repo/env.yaml":             "-> .env",
		"repo/itself.yaml":          "-> .",
		"repo/steps.yaml":           "-> common/out.yaml",
		"repo/common/out.yaml":      "-> ../../secret",
		"mount/..2026_11/values":    "a: 1",
		"mount/..data":              "-> ..2026_11",
		"mount/values":              "-> ..data/values",
		"repo/envs/prod/plain.yaml": "-> ../../plain.yaml",
	})
	for name, allowed := range map[string]bool{
		"repo/plain.yaml": true, "repo/beside.yaml": true, "repo/below.yaml": true, "repo/twice.yaml": true,
		"repo/round.yaml": true, "mount/values": true,
		"repo/out.yaml": false, "repo/far.yaml": false, "repo/git.yaml": false, "repo/env.yaml": false,
		"repo/itself.yaml": false, "repo/steps.yaml": false, "repo/envs/prod/plain.yaml": false,
	} {
		data, err := ReadInside(filepath.Join(dir, name), 1<<20)
		var outside *OutsideError
		switch {
		case allowed && (err != nil || string(data) != "a: 1"):
			t.Errorf("%s: %q, %v", name, data, err)
		case !allowed && (!errors.As(err, &outside) || data != nil):
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// What a shell passes is a link, too, and is read.
func TestReadInsideTakesWhatTheShellOpens(t *testing.T) {
	if _, err := os.Lstat("/dev/fd"); err != nil {
		t.Fatalf("a system without it can't run this test: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.WriteString("a: 1")
	_ = w.Close()
	data, err := ReadInside(filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd()))), 1<<20)
	if err != nil || string(data) != "a: 1" {
		t.Errorf("%q, %v", data, err)
	}
}

// What has no end is not read to its end.
func TestReadEnds(t *testing.T) {
	for _, read := range []func(string, int64) ([]byte, error){Read, ReadInside} {
		_, err := read("/dev/zero", 1<<20)
		var large *TooLargeError
		if !errors.As(err, &large) || err.Error() != "/dev/zero is larger than 1 MiB" {
			t.Errorf("%v", err)
		}
	}
}

// Reading stops past the limit, however much comes in one piece; input that breaks off is
// an error.
func TestReadAll(t *testing.T) {
	content := strings.Repeat("0123456789", 300_000)
	for _, tc := range []struct {
		r    io.Reader
		most int64
		want string
		err  error
	}{
		{strings.NewReader(""), 0, "", nil},
		{strings.NewReader(content), int64(len(content)), content, nil},
		{strings.NewReader(content), int64(len(content)) - 1, "", &TooLargeError{Name: "x", Most: int64(len(content)) - 1}},
		{iotest.OneByteReader(strings.NewReader(content[:5000])), 5000, content[:5000], nil},
		{iotest.DataErrReader(strings.NewReader(content)), int64(len(content)), content, nil},
		{io.MultiReader(strings.NewReader("a"), iotest.ErrReader(io.ErrUnexpectedEOF)), 10, "", io.ErrUnexpectedEOF},
	} {
		got, err := ReadAll(tc.r, "x", tc.most)
		if string(got) != tc.want || (err == nil) != (tc.err == nil) || err != nil && err.Error() != tc.err.Error() || err == nil && got == nil {
			t.Errorf("%d bytes, %v, want %d, %v", len(got), err, len(tc.want), tc.err)
		}
	}
}
