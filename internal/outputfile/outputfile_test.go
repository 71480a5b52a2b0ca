package outputfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
)

// A file that was open to all becomes its owner's alone, and a reader who has it open sees
// only the old content.
func TestPrivateFilesAreNeverWider(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("modes of Windows are another matter; the content is checked all the same")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "web.plan")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := outputfile.Write(file, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := make([]byte, 10)
	n, _ := reader.ReadAt(seen, 0)
	if string(seen[:n]) != "old" {
		t.Errorf("whoever had the file open reads %q", seen[:n])
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("web.plan", link); err != nil {
		t.Fatal(err)
	}
	if err := outputfile.Write(link, []byte("newer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil || string(data) != "newer" {
		t.Errorf("the file has %q, %v", data, err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".kubectl-release-*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %q, %v", left, err)
	}
}

// What is not a file is left alone, and a failure leaves nothing behind.
func TestPrivateFilesReplaceOnlyFiles(t *testing.T) {
	dir := t.TempDir()
	for name, file := range map[string]string{
		"a folder": dir, "a device": os.DevNull, "a link to nothing": filepath.Join(dir, "dangling"),
		"a folder that is not there": filepath.Join(dir, "none", "web.plan"),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a link to nothing" {
				if err := os.Symlink("nowhere", file); err != nil {
					t.Fatal(err)
				}
			}
			if err := outputfile.Write(file, []byte("x"), 0o600); err == nil {
				t.Error("it was written")
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".kubectl-release-*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %q, %v", left, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v, %v", os.DevNull, info.Mode(), err)
	}
}

// A new file may be written by several programs at the same time, as the index of a repository in the cache is:
// the last one to finish wins, and none of them fails.
func TestNewFileWrittenAtTheSameTime(t *testing.T) {
	folder := t.TempDir()
	for round := range 300 {
		file := filepath.Join(folder, fmt.Sprint(round))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := outputfile.Write(file, []byte("x"), 0o600); err != nil {
					t.Error(err)
				}
			})
		}
		if all.Wait(); t.Failed() {
			return
		}
	}
}
