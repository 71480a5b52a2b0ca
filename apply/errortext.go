package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// line is one line of an error's text. Details explain the line before them and are indented.
type line struct {
	text   string
	detail bool
}

// composed is an error whose text consists of lines, so logs can be omitted where the text is
// recorded.
type composed interface {
	error
	lines(logs bool) []line
}

// linesOf returns the lines of an error's text. An error that is not composed contributes its
// message. Without logs, an error that wraps a composed one is replaced by the composed one, since
// its own text may quote the log.
func linesOf(err error, logs bool) []line {
	if c, ok := err.(composed); ok { //nolint:errorlint // errors that wrap a composed one are handled below
		return c.lines(logs)
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // as above
		if joined := errors.Join(several.Unwrap()...); joined != nil && joined.Error() == err.Error() {
			var all []line
			for _, e := range several.Unwrap() {
				all = append(all, linesOf(e, logs)...)
			}
			return all
		}
	}
	if c, wraps := errors.AsType[composed](err); wraps && !logs {
		return c.lines(logs)
	}
	return textLines(err.Error())
}

func textLines(text string) (lines []line) {
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, line{text: l})
	}
	return lines
}

// textOf joins lines into one text.
func textOf(lines []line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		if texts[i] = l.text; l.detail {
			texts[i] = "  " + l.text
		}
	}
	return strings.Join(texts, "\n")
}

// headed returns the first line and the others, without indents, as an event shows them.
func headed(lines []line) (first string, further []string) {
	for i, l := range lines {
		switch {
		case i == 0:
			first = l.text
		case l.detail:
			further = append(further, l.text)
		default:
			further = append(further, strings.TrimPrefix(l.text, "  "))
		}
	}
	return first, further
}

// wordedError is an error with text before it, on its first line, and lines after it.
type wordedError struct {
	before string
	err    error
	after  string
}

func (e *wordedError) Error() string { return textOf(e.lines(true)) }

// Unwrap returns the error without the added text.
func (e *wordedError) Unwrap() error { return e.err }

func (e *wordedError) lines(logs bool) []line {
	lines := linesOf(e.err, logs)
	lines[0].text = e.before + lines[0].text
	if e.after != "" {
		lines = append(lines, textLines(e.after)...)
	}
	return lines
}

// Headline returns the error's text without its Diagnosis: "Deployment/shop/web is not ready: 1 of 2
// pods are". For a hook it is Why alone: the caller names the object.
func (e *NotReadyError) Headline() string {
	switch {
	case e.Stopped == context.Canceled: //nolint:errorlint // a plain cancellation adds nothing to the message
		return "stopped while waiting for " + e.Object
	case e.Stopped != nil:
		return "stopped while waiting for " + e.Object + ": " + e.Stopped.Error()
	case e.Hook:
		return e.Why
	case e.Failed:
		return fmt.Sprintf("%s can't become ready: %s", e.Object, e.Why)
	}
	return fmt.Sprintf("%s is not ready: %s", e.Object, e.Why)
}

func (e *NotReadyError) Error() string { return textOf(e.lines(true)) }

// Unwrap returns why the wait was stopped.
func (e *NotReadyError) Unwrap() error { return e.Stopped }

func (e *NotReadyError) lines(logs bool) []line {
	diagnosis := e.Diagnosis
	if !logs {
		diagnosis.Log = Log{}
	}
	lines := textLines(e.Headline())
	for _, text := range diagnosis.Text() {
		lines = append(lines, line{text: text, detail: true})
	}
	return lines
}
