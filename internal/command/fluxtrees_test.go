package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fluxtar "github.com/fluxcd/pkg/tar"
)

// archived packs a folder as source-controller does.
func archived(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := fluxtar.Tar(dir, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Other sources are folders and archives, inside and outside the repository: Kustomizations are built
// from them, and charts and values are read from them (issue 15 §4). Nothing that was unpacked is left
// behind.
func TestTreesOfOtherSources(t *testing.T) {
	d := atDesk(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	away := t.TempDir()
	for _, dir := range []string{"other", filepath.Join(away, "other")} {
		d.file(dir+"/charts/web/Chart.yaml", "{apiVersion: v2, name: web, version: 2.0.0}")
		d.file(dir+"/charts/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: {{ .Values.text }}}\n")
		d.file(dir+"/env/prod.yaml", "text: prod\n")
		d.file(dir+"/.sourceignore", "/apps/old.yaml\n")
		for _, name := range []string{"web", "old"} {
			d.releaseFile(dir+"/apps/"+name+".yaml", name, "chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: other, namespace: flux-system}, valuesFiles: [env/prod.yaml]}}")
		}
		d.file(dir+".tgz", string(archived(t, dir)))
	}
	kustomization := func(kind string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: flux-system}\nspec: {interval: 1m, path: ./apps, sourceRef: {kind: " + kind + ", name: other}}\n"
	}
	d.file("clusters/prod/other.yaml", kustomization("GitRepository"))
	d.file("clusters/prod/source.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {interval: 1m, url: 'https://example.com/other'}\n")
	const line = "--flux clusters/prod --offline --base-dir /dev/null"
	for _, place := range []string{"other", "other.tgz", away + "/other", away + "/other.tgz"} {
		named := line + " --source GitRepository/flux-system/other=" + place
		if all := d.planned(named); len(all) != 1 {
			t.Errorf("%s: %+v", place, all)
		}
		if got, want := d.texts(named), "web=map[text:prod]"; got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
		if got := d.must("plan many " + named + " -o json").out; strings.Contains(got, temporary) {
			t.Errorf("%s: a folder that is gone is named in\n%s", place, got)
		}
	}
	// Manifests in a registry and in a bucket are trees, too.
	for _, kind := range []string{"OCIRepository", "Bucket"} {
		d.file("clusters/prod/other.yaml", kustomization(kind))
		named := line + " --source GitRepository/flux-system/other=other --source " + kind + "/flux-system/other=other.tgz"
		if got, want := d.texts(named), "web=map[text:prod]"; got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A chart of another source, whose files a user has named, is packaged as source-controller does it.
func TestVersionsOfChartsOfOtherSources(t *testing.T) {
	for _, c := range []struct{ kind, more, want string }{
		{"GitRepository", "reconcileStrategy: Revision", "upgrade: the chart's version changes from 1.0.0 to 1.0.0+commit"},
		{"Bucket", "reconcileStrategy: Revision", "upgrade: the chart's version changes from 1.0.0 to 1.0.0+commit"},
		{"GitRepository", "", "nothing: nothing will happen: chart version 1.0.0 is unchanged"},
		{"HelmRepository", "reconcileStrategy: Revision", "nothing: nothing will happen: chart version 1.0.0 is unchanged"},
		{"ExternalArtifact", "", "upgrade: the chart's version changes from 1.0.0 to 1.0.0+digest"},
		{"OCIRepository", "", "upgrade: the chart's version changes from 1.0.0 to 1.0.0+digest"},
	} {
		d, named := atDesk(t), c.kind == "ExternalArtifact" || c.kind == "OCIRepository"
		for _, side := range []string{"base", "head"} {
			d.file(side+"/vendor/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			d.file(side+"/vendor/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: "+side+"}\n")
			spec := "chart: {spec: {chart: web, sourceRef: {kind: " + c.kind + ", name: other}, " + c.more + "}}"
			if named {
				spec = "chartRef: {kind: " + c.kind + ", name: other}"
			}
			d.releaseFile(side+"/release.yaml", "web", spec)
		}
		t.Chdir("head")
		place := "vendor"
		if c.kind == "HelmRepository" || named {
			place += "/web"
		}
		if got := verdict(d.planned("release.yaml --offline --base-dir ../base --source " + c.kind + "/shop/other=" + place)["web"]); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %s, want %s", c.kind, c.more, got, c.want)
		}
	}
}

// A change to an archive in the repository is a change to what is built from it.
func TestAnArchiveOfTheRepositoryIsThatOfItsSide(t *testing.T) {
	d := atDesk(t)
	for side, version := range map[string]string{"base": "1.0.0", "head": "2.0.0"} {
		d.file(side+"/other/web/Chart.yaml", "{apiVersion: v2, name: web, version: "+version+"}")
		d.file(side+"/other/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: '{{ .Chart.Version }}'}\n")
		d.file(side+"/other.tgz", string(archived(t, side+"/other")))
		if err := os.RemoveAll(side + "/other"); err != nil {
			t.Fatal(err)
		}
		d.releaseFile(side+"/release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: other}}}")
	}
	base, err := filepath.Abs("base")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("head")
	d.must("plan many release.yaml --offline --base-dir "+base+" --source GitRepository/shop/other=other.tgz").has(t, "1.0.0 → 2.0.0")
}

// The error says why an archive can't be unpacked, and nothing is written outside the folder that it is
// unpacked to.
func TestHostileArchivesOfSources(t *testing.T) {
	d := atDesk(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(temporary, "tmp"))
	if err := os.Mkdir(filepath.Join(temporary, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	packed := func(headers ...tar.Header) string {
		var out bytes.Buffer
		zipped := gzip.NewWriter(&out)
		w := tar.NewWriter(zipped)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(make([]byte, h.Size)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := zipped.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: other}}}")
	for name, c := range map[string]struct{ archive, want string }{
		"no archive": {"text", "neither a folder nor a gzipped archive"},
		"a way out":  {packed(tar.Header{Name: "../canary", Typeflag: tar.TypeReg, Mode: 0o644}), `invalid name error "../canary"`},
		"a link out": {packed(tar.Header{Name: "web", Typeflag: tar.TypeSymlink, Linkname: temporary}, tar.Header{Name: "web/Chart.yaml", Typeflag: tar.TypeReg, Mode: 0o644}), "Chart.yaml"},
		"a device":   {packed(tar.Header{Name: "web", Typeflag: tar.TypeChar, Mode: 0o644}), "unsupported file type"},
		"too large":  {packed(tar.Header{Name: "web", Typeflag: tar.TypeReg, Mode: 0o644, Size: 101 << 20}), "bigger than max archive size"},
	} {
		d.file("other.tgz", c.archive)
		if got := d.texts("release.yaml --offline --base-dir /dev/null --source GitRepository/shop/other=other.tgz"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
	var found []string
	err := filepath.WalkDir(temporary, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, name)
		}
		return err
	})
	if err != nil || len(found) > 0 {
		t.Errorf("left behind: %v, %v", found, err)
	}
}
