package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values flags are interpreted as Helm 4.3.1's are. The fuzzer found that white space
// around values was lost, and that several file names separated by commas were taken
// for one.
func TestValuesFlags(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"web/Chart.yaml":         "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"web/templates/all.yaml": "{{ toJson .Values }}",
		"one.yaml":               "a: 1\nb: 1\n",
		"two.yaml":               "b: 2\n",
		"a,b.yaml":               "c: 3\n",
		" space":                 "text",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"space around a value is part of it":      {[]string{"--set", "a= x "}, `{"a":" x "}`},
		"space around a key is part of it":        {[]string{"--set-string", " a =1"}, `{" a ":"1"}`},
		"literal text keeps its line end":         {[]string{"--set-literal", "a=x\n"}, `{"a":"x\n"}`},
		"a file's name may begin with space":      {[]string{"--set-file", "a= space"}, `{"a":"text"}`},
		"values files are separated by commas":    {[]string{"-f", "one.yaml,two.yaml"}, `{"a":1,"b":2}`},
		"quotes keep a comma in a file's name":    {[]string{"-f", `"a,b.yaml",one.yaml`}, `{"a":1,"b":1,"c":3}`},
		"commas of the other flags are their own": {[]string{"--set", "a=1,b=2", "--set-json", `c=[1,2],d=null`}, `{"a":1,"b":2,"c":[1,2],"d":null}`},
		"no name is no file":                      {[]string{"-f", ""}, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, failure bytes.Buffer
			args := append([]string{"kubectl-release", "template", "web", "web"}, tc.args...)
			if code := Main(context.Background(), nil, args, Streams{In: strings.NewReader(""), Out: &out, Err: &failure}); code != exitDone {
				t.Fatalf("exit code %d: %s", code, failure.String())
			}
			_, got, _ := strings.Cut(strings.TrimSpace(out.String()), "all.yaml\n")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
