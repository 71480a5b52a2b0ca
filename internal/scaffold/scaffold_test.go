package scaffold

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"web": "", "1.0": "", "a_b-C.d": "", strings.Repeat("a", maxName): "",
		"": "not a valid chart name", ".": "not a valid chart name", "..": "not a valid chart name", "a b": "not a valid chart name", "a/b": "not a valid chart name", "a\n": "not a valid chart name", "é": "not a valid chart name",
		strings.Repeat("a", maxName+1): "251 characters",
	} {
		err := CheckName(name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestNoPlaceholderIsLeft(t *testing.T) {
	files, err := Chart("web")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if strings.Contains(string(f.Data), placeholder) {
			t.Errorf("%s: %s", f.Name, f.Data)
		}
	}
}

func TestStarter(t *testing.T) {
	files := []*chart.File{
		{Name: "Chart.yaml", Data: []byte("name: x\nversion: 3.0.0\n")},
		{Name: "Chart.lock"},
		{Name: "values.yaml", Data: []byte("a: <CHARTNAME>\n")},
		{Name: "templates/sub/a.txt", Data: []byte("<CHARTNAME>.<CHARTNAME>")},
		{Name: "README.md", Data: []byte("<CHARTNAME>")},
	}
	made, err := Starter("web", files)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range made {
		got[f.Name] = string(f.Data)
	}
	if len(got) != 4 || got["values.yaml"] != "a: web\n" || got["templates/sub/a.txt"] != "web.web" || got["README.md"] != "<CHARTNAME>" || !strings.Contains(got["Chart.yaml"], "name: \"web\"\n") || !strings.Contains(got["Chart.yaml"], "version: 0.1.0\n") {
		t.Error(got)
	}
	if string(files[2].Data) != "a: <CHARTNAME>\n" {
		t.Error("the starter was changed")
	}
	if _, err := Starter("web", files[1:]); err == nil {
		t.Error("files without Chart.yaml are a chart")
	}
}
