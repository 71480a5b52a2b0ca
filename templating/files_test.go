package templating

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/budget"
	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// bigFile renders a template of a chart with a file of that many megabytes.
func bigFile(megabytes int, line, text string) (*execution, error) {
	c := &chart.Chart{
		Metadata:  &chart.Metadata{Name: "web"},
		Files:     []*chart.File{{Name: "big", Data: bytes.Repeat([]byte(line), megabytes<<20/len(line))}},
		Templates: []*chart.File{{Name: "templates/x.yaml", Data: []byte(text)}},
	}
	e := newExecution(Options{})
	_, err := e.render(c, map[string]any{"Values": map[string]any{}})
	return e, err
}

// The text of a file is made once, however often a template asks for it.
func TestFilesGet(t *testing.T) {
	const text = `{{ range until 100 }}{{ $x := $.Files.Get "big" }}{{ end }}`
	e, err := bigFile(20, "abcdefg\n", text)
	if err != nil || e.Bytes < 20<<20 || e.Steps < 20<<20/256 {
		t.Errorf("%d bytes, %d steps, %v", e.Bytes, e.Steps, err)
	}
	if allocated := testing.AllocsPerRun(1, func() { _, _ = bigFile(1, "abcdefg\n", text) }); allocated > 20_000 {
		t.Errorf("%v allocations", allocated)
	}
}

// Lines and tpl are charged for the text that they go through each time.
func TestGoingThroughTextIsCharged(t *testing.T) {
	for name, text := range map[string]string{
		"Lines": `{{ range until 1000 }}{{ $x := $.Files.Lines "big" }}{{ end }}`,
		"tpl":   `{{ $a := print "{{/*" ($.Files.Get "big") "*/}}" }}{{ range until 1000 }}{{ $x := tpl $a $ }}{{ end }}`,
	} {
		e, err := bigFile(1, strings.Repeat("a", 1<<20), text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if least := 1000 << 20 / 256; e.Steps < least {
			t.Errorf("%s: %d steps, want %d", name, e.Steps, least)
		}
	}
	if _, err := bigFile(20, "\n", `{{ $x := $.Files.Lines "big" }}`); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("20 million lines: %v", err)
	}
}

// AsConfig and AsSecrets of what is too large are errors, not empty.
func TestFilesAsConfigOfTooMuch(t *testing.T) {
	for _, method := range []string{"AsConfig", "AsSecrets"} {
		if _, err := bigFile(30, "a\t\x01\n", `{{ .Files.`+method+` | len }}`); err == nil || !strings.Contains(err.Error(), "rendering produces too much text") {
			t.Errorf("%s: %v", method, err)
		}
	}
	e, err := bigFile(1, "a: \t b\n", `{{ .Files.AsConfig | len }}`)
	if err != nil || e.Bytes < 1<<20 || e.Bytes > budget.MaxBytes {
		t.Errorf("%d bytes, %v", e.Bytes, err)
	}
}
