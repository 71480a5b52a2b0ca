package helmfile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// A helmfile that a pull request brings can take neither time nor memory without bounds.
func TestTemplatesAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ template, want string }{
		"an endless loop":       {`{{ range 10000000000 }}{{ end }}`, "takes too long"},
		"loops in loops":        {`{{ range until 10000 }}{{ range 10000 }}{{ $a := . }}{{ end }}{{ end }}`, "takes too long"},
		"a long list":           {`{{ range until 1000000000 }}{{ end }}`, "the list would be too long"},
		"a text that doubles":   {`{{ $a := "0123456789abcdef" }}{{ range until 30 }}{{ $a = printf "%s%s" $a $a }}{{ end }}`, "too much text"},
		"a text that is padded": {`{{ range 100 }}{{ $a := printf "%999999d" 1 }}{{ end }}`, "too much text"},
		"repeat":                {`{{ repeat 1000000000 "abcdefgh" }}`, "too much text"},
		"much output":           {`{{ range until 200000 }}- name: web{{ "\n" }}{{ end }}`, "it renders to more than 1 MiB"},
		"recursion":             {`{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`, "exceeded maximum template depth"},
		"doubling":              {`{{ define "a" }}{{ if lt . 60 }}{{ template "a" (add . 1) }}{{ template "a" (add . 1) }}{{ end }}{{ end }}{{ template "a" 1 }}`, "takes too long"},
		"a table in itself":     {`{{ $a := dict }}{{ $_ := set $a "a" $a }}{{ toYaml $a }}`, "nested"},
		"what is fine":          {`releases: [{{ range $i := until 3 }}{name: {{ printf "web-%d" $i }}, chart: ./c},{{ end }}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{}
			if c.want == "takes too long" {
				r = nearlySpent()
			}
			_, err := r.render("helmfile.yaml.gotmpl", c.template, nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "helmfile.yaml.gotmpl")) {
				t.Errorf("%.300v", err)
			}
		})
	}
}

// Bases that are included twice by each other are read a limited number of times.
func TestIncludedFilesAreBounded(t *testing.T) {
	tree := fstest.MapFS{"b25.yaml": {Data: []byte("values: [{a: 1}]\n")}}
	for i := range 25 {
		tree[fmt.Sprintf("b%d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "bases: [b%d.yaml, b%[1]d.yaml]\n", i+1)}
	}
	if _, err := Read(tree, "b0.yaml", Options{}); err == nil || !strings.Contains(err.Error(), "more than 5000 files") {
		t.Errorf("%.300v", err)
	}
	if _, err := Read(tree, "b18.yaml", Options{}); err != nil {
		t.Errorf("128 bases: %v", err)
	}
}

// nearlySpent returns a reader that may take 100,000 more steps, so that tests need not wait for five million.
func nearlySpent() *reader {
	r := &reader{}
	r.bounded.budget.Steps = budget.MaxSteps - 100_000
	return r
}

// All templates of a helmfile have one budget.
func TestTemplatesShareABudget(t *testing.T) {
	r := nearlySpent()
	for range 100 {
		if _, err := r.render("a.gotmpl", `{{ range 10000 }}{{ end }}`, nil); err != nil {
			if !strings.Contains(err.Error(), "takes too long") {
				t.Error(err)
			}
			return
		}
	}
	t.Error("a hundred templates may take a million steps")
}
