package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// JSON prints the plan for machines, indented, with one newline at its end. It prints secrets when
// the plan holds them: see redact.Plan. Control characters that JSON allows in strings are escaped,
// too, because JSON is also read on terminals. Errors are those of w and of values that JSON can't
// represent.
func JSON(w io.Writer, p *plan.Document) error {
	if err := indented(w, p); err != nil {
		return fmt.Errorf("encode the plan of %s: %w", p.Release, err)
	}
	return nil
}

// SetJSON is JSON for the plan of a set.
func SetJSON(w io.Writer, d *releaseset.Document) error {
	if err := indented(w, d); err != nil {
		return fmt.Errorf("encode the plan of the set: %w", err)
	}
	return nil
}

func indented(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}
