package templating

import (
	"math/rand/v2"
	"strings"
	"testing"
	gotemplate "text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/budget"
	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Our execution of templates must agree with text/template's even on templates that
// nobody would write: the same text, or an error from both.
func TestAgainstTextTemplate(t *testing.T) {
	texts, failures := 0, 0
	for seed := range uint64(4000) {
		g := grammar{rand.New(rand.NewPCG(seed, 1))}
		text := g.list(0)
		got, gotErr := executeOurs(text)
		if gotErr != nil && strings.Contains(gotErr.Error(), "contain itself") {
			continue // text/template would overflow the stack
		}
		want, wantErr := executeStdlib(text)
		if (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("seed %d: %s\ntext/template: %q, %v\nours: %q, %v", seed, text, want, wantErr, got, gotErr)
		}
		if wantErr != nil {
			failures++
			continue
		}
		texts++
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: %s\n%s", seed, text, d)
		}
	}
	if texts < 400 || failures < 400 {
		t.Errorf("the grammar is lopsided: %d texts, %d errors", texts, failures)
	}
}

func stdlibData() map[string]any {
	return map[string]any{"Values": Values{
		"s": "text", "e": "", "i": 3, "f": 2.5, "t": true, "z": nil,
		"l": []any{1, "a", nil, map[string]any{"k": "v"}}, "ss": []string{"x", "y"}, "ints": []int{1, 2},
		"m": map[string]any{"k": "v", "n": nil, "m": map[string]any{"k": 1}}, "ms": map[string]string{"k": "v"},
		"mi": map[int]string{2: "b", 1: "a"},
	}, "Capabilities": DefaultCapabilities()}
}

const partials = `{{ define "p" }}<{{ . }}{{ with $ }}!{{ end }}>{{ end }}`

func executeStdlib(text string) (string, error) {
	functions := rawFunctions(&budget.Budget{}) // printf is ours, too: it names types as Helm does
	for _, builtin := range []string{"and", "or", "call", "html", "js", "urlquery", "index", "len", "not", "print", "println", "eq", "ne", "lt", "le", "gt", "ge"} {
		delete(functions, builtin)
	}
	t, err := gotemplate.New("x").Option("missingkey=zero").Funcs(functions).Parse(partials + text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	data := stdlibData()
	data["Template"] = Values{"Name": "x", "BasePath": ""}
	err = t.Execute(&b, Values(data))
	return dropNoValue(b.String()), err
}

func executeOurs(text string) (string, error) {
	e := newExecution(Options{})
	data := stdlibData()
	src := &source{path: "x", text: partials + text, scope: Values(data)}
	if err := e.parse([]*source{src}); err != nil {
		return "", err
	}
	return e.file(src)
}

// Rendering must not add to the caller's scope, and templates see only the parts of it that
// they should.
func TestScopeIsOurs(t *testing.T) {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "t"}, Templates: []*chart.File{{Name: "templates/x", Data: []byte("{{ .Extra }}")}}}
	top := map[string]any{"Extra": "no", "Values": map[string]any{}}
	out, err := Render(c, top, Options{})
	if err != nil || out.Files[0].Content != "" || len(top) != 2 {
		t.Errorf("got %+v, %v, %v", out.Files, err, top)
	}
}

// grammar makes template text at random.
type grammar struct{ *rand.Rand }

func (g grammar) one(of ...string) string { return of[g.IntN(len(of))] }

func (g grammar) list(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.statement(depth))
	}
	return b.String()
}

func (g grammar) statement(depth int) string {
	kind := g.IntN(12)
	if depth > 2 {
		kind = g.IntN(4)
	}
	switch kind {
	case 0:
		return g.one("a", " \n", "x ")
	case 1:
		return "{{ $" + g.one("v", "w") + " := " + g.pipe(depth) + " }}"
	case 4, 5:
		return "{{ if " + g.pipe(depth) + " }}" + g.list(depth+1) + "{{ else }}" + g.list(depth+1) + "{{ end }}"
	case 6:
		return "{{ with " + g.pipe(depth) + " }}" + g.list(depth+1) + "{{ else }}" + g.list(depth+1) + "{{ end }}"
	case 7:
		declares := g.one("", "$v := ", "$w, $v := ")
		orElse := g.one("e", "e", "{{ $v }}", "{{ toJson $w }}")
		if !strings.Contains(declares, "$v") || strings.Contains(orElse, "$w") && !strings.Contains(declares, "$w") {
			orElse = "e"
		}
		return "{{ range " + declares + g.pipe(depth) + " }}" + g.list(depth+1) + g.one("", "{{ break }}", "{{ continue }}") + "{{ else }}" + orElse + "{{ end }}"
	case 8:
		return "{{ template \"p\" " + g.operand(depth) + " }}"
	case 9:
		return "{{ $v := " + g.operand(depth) + " }}{{ range $i, $v := .Values.l }}{{ $v }}{{ end }}{{ $v = " + g.pipe(depth) + " }}{{ $v }}"
	}
	return "{{ " + g.pipe(depth) + " }}"
}

func (g grammar) pipe(depth int) string {
	text := g.command(depth)
	for g.IntN(4) == 0 {
		text += " | " + g.one("default 1", "print", "not", "len", "eq 3", "index .Values.m", "quote", "and 1", "or 0", "toJson", "printf \"%v\"", "upper", "int", "first", "typeOf", "kindOf", "ternary 1 2", "list 1", "lt 2")
	}
	return text
}

func (g grammar) command(depth int) string {
	a, b := g.operand(depth), g.operand(depth)
	switch g.IntN(22) {
	case 0:
		return g.one("eq", "ne", "lt", "le", "gt", "ge") + " " + a + " " + b
	case 1:
		return g.one("and", "or") + " " + a + " " + b
	case 2:
		return "index " + a + " " + b
	case 3:
		return g.one("len", "not", "print", "html", "js", "urlquery", "toYaml", "toJson", "quote", "int", "typeOf", "kindOf", "toString", "upper", "first", "last", "empty", "keys") + " " + a
	case 4:
		return g.one("print", "println", "list", "default", "coalesce", "cat", "eq", "concat", "add", "max") + " " + a + " " + b
	case 5:
		return "printf " + g.one(`"%v-%v"`, `"%s"`, `"%d %q"`, `"%T %T"`) + " " + a + " " + b
	case 6:
		return "dict " + g.one(`"k"`, a) + " " + b
	case 7:
		return g.one("hasKey", "get", "set", "unset") + " " + a + ` "k"` + g.one("", " "+b)
	case 8:
		return g.one("slice", "repeat", "trunc", "until", "indent", "has", "append", "join", "contains") + " " + a + " " + b
	case 9:
		return ".Values." + g.one("s", "Table", "AsMap", "PathValue", "YAML") + g.one("", ` "m"`, ` "s"`)
	case 10:
		return ".Capabilities." + g.one("KubeVersion", "KubeVersion.Version", "KubeVersion.GitVersion", `APIVersions.Has "v1"`, "APIVersions.Has", "KubeVersion.Nope", "HelmVersion.Version", "KubeVersion.String")
	}
	return a
}

func (g grammar) operand(depth int) string {
	if depth < 3 && g.IntN(5) == 0 {
		return "(" + g.pipe(depth+1) + ")" + g.one("", "", ".k", ".m.k", ".Values.s")
	}
	return g.one(".", "$", ".Values.s", ".Values.e", ".Values.i", ".Values.f", ".Values.t", ".Values.z", ".Values.no", ".Values.no.k",
		".Values.z.k", ".Values.l", ".Values.ss", ".Values.ints", ".Values.m", ".Values.m.k", ".Values.m.n", ".Values.m.n.k", ".Values.m.m.k",
		".Values.ms", ".Values.ms.k", ".Values.ms.no", ".Values.mi", "$.Values.m.k", ".k", `"a"`, `"k"`, `""`, "1", "0", "2.5", "'a'", "true", "nil", "-1",
		"`raw`", ".Capabilities.KubeVersion", ".Capabilities", "$.Values", "1e3")
}
