package setrun

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// A set in one file is the folder's files, for its owner's eyes only; an empty set is one, too.
func TestASetInOneFileIsTheFolder(t *testing.T) {
	dir := t.TempDir()
	files := []File{{"shop_web.plan", []byte("a plan")}, {IndexName, []byte("{}\n")}}
	at := filepath.Join(dir, "default.tfplan")
	if err := errors.Join(SaveFile(at, files), SaveFolder(filepath.Join(dir, "set"), files)); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(at); err != nil || about.Mode() != 0o600 {
		t.Error(about.Mode(), err)
	}
	for _, from := range []string{at, filepath.Join(dir, "set")} {
		kept, err := OpenKept(from)
		if err != nil {
			t.Fatal(err)
		}
		names, err := kept.names()
		if diff := cmp.Diff([]string{IndexName, "shop_web.plan"}, names); diff != "" || err != nil {
			t.Error(diff, err)
		}
		for _, f := range files {
			if data, err := kept.Read(f.Name); err != nil || !bytes.Equal(data, f.Data) {
				t.Errorf("%s: %q, %v", f.Name, data, err)
			}
		}
		if _, err := kept.Read("other.plan"); err == nil {
			t.Error("a file is read that is not there")
		}
	}
}

// Each entry has a file of its own, whose name is one on every file system.
func TestPlanFiles(t *testing.T) {
	for key, want := range map[releaseset.Key]string{
		{Namespace: "shop", Name: "web"}:                                                  "shop_web.plan",
		{Cluster: "kubernetes-admin@prod", Namespace: "shop", Name: "web"}:                "kubernetes-admin@prod_shop_web.plan",
		{Cluster: "arn:aws:eks:eu-west-1:1:cluster/prod", Namespace: "shop", Name: "web"}: "arn%3Aaws%3Aeks%3Aeu-west-1%3A1%3Acluster%2Fprod_shop_web.plan",
		{Cluster: "arn:aws:eks:eu-west-1:1:cluster_prod", Namespace: "shop", Name: "web"}: "arn%3Aaws%3Aeks%3Aeu-west-1%3A1%3Acluster_prod_shop_web.plan",
		{Cluster: "..\\..", Namespace: "../shop", Name: "web"}:                            "..%5C.._..%2Fshop_web.plan",
	} {
		if got := planFile(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// What is not a set, or not an archive that a set is saved in, is refused.
func TestOpenKeptRefuses(t *testing.T) {
	archive := func(headers ...tar.Header) string {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	whole := archive(tar.Header{Name: IndexName, Mode: 0o600})
	for name, tc := range map[string]struct{ text, want string }{
		"a plan":           {`{"formatVersion":"1.0"}`, ErrNoSet.Error()},
		"nothing":          {"", ErrNoSet.Error()},
		"a path":           {archive(tar.Header{Name: "../set.json"}), "it contains ../set.json, which is not part of a saved set"},
		"a folder":         {archive(tar.Header{Name: "plans/", Typeflag: tar.TypeDir}), "it contains plans/, which is not part of a saved set"},
		"a link":           {archive(tar.Header{Name: "a.plan", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "it contains a.plan, which is not part of a saved set"},
		"a name twice":     {archive(tar.Header{Name: IndexName}, tar.Header{Name: IndexName}), "it contains set.json, which is not part of a saved set"},
		"what was cut off": {whole[:512] + strings.Repeat("x", 512), "read the set in"},
	} {
		at := filepath.Join(t.TempDir(), "set")
		if err := os.WriteFile(at, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKept(at); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
