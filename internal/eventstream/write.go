package eventstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Write writes an event to w as one line of JSON, in a single write, with all texts masked. Its
// plan must already be redacted (redact.Plan). Invisible and control characters are escaped. It
// returns the errors of w, and an error for values that JSON can't represent.
func Write(w io.Writer, e Event, m *redact.Mask) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e.masked(m)); err != nil {
		return fmt.Errorf("encode the event %s: %w", e.Type, err)
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}

// masked returns a copy of the event whose texts hold no secrets.
func (e Event) masked(m *redact.Mask) Event {
	masked := m.Text(e.Message)
	if len(e.Reasons) > 0 { // what the first line quotes may go on in the reasons; a rollback's second line says where it leads
		head, _, _ := strings.Cut(e.Message, "\n")
		lines := m.Lines(append([]string{head}, e.Reasons...))
		e.Reasons = lines[1:]
		if rest, found := strings.CutPrefix(masked, head); found {
			masked = lines[0] + rest
		}
	}
	e.Message = masked
	if e.Summary == nil {
		return e
	}
	s := *e.Summary
	s.Error, s.Hint, s.Notes = m.Text(s.Error), m.Text(s.Hint), m.Notes(s.Notes)
	s.Record = m.Tree(s.Record)
	if s.Undo != nil {
		undo := *s.Undo
		undo.Error = m.Text(undo.Error)
		s.Undo = &undo
	}
	e.Summary = &s
	return e
}

// UndoSteps splits the changes of a rollback into those that were made and the
// others, with what it leaves as it is. done holds the IDs of the steps that have succeeded.
func UndoSteps(back *plan.Document, done map[string]bool) (undone, notUndone []UndoStep) {
	back.Steps(func(_ plan.StageName, s *plan.Step) {
		if !s.Writes() {
			return
		}
		step := UndoStep{Step: s.ID, Op: s.Op, Object: s.Object}
		if done[s.ID] {
			undone = append(undone, step)
		} else {
			notUndone = append(notUndone, step)
		}
	})
	for _, left := range back.NotUndone {
		notUndone = append(notUndone, UndoStep{Step: left.Step, Op: plan.OpNone, Object: left.Object})
	}
	return undone, notUndone
}
