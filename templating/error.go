package templating

import (
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"text/template/parse"
)

// Error says what a template did wrong, where, and how it came to be executed.
type Error struct {
	// File is the path of the template file, beginning with the chart's name;
	// Line and Column count from 1. Column is 0 when it is not known.
	File   string
	Line   int
	Column int
	// Expr is the expression that failed, as written; "" for a parse error.
	Expr    string
	Message string
	// Hint is a likely remedy, or "".
	Hint string
	// Trail lists the calls that led here, innermost first.
	Trail []Call
	// Err is the cause, where a function returned one.
	Err error
}

// Place is a line of a template file.
type Place struct {
	File string
	Line int
}

func (p Place) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// Call is a call of a template and where it is.
type Call struct {
	Place
	// What is called, as it is written: include "name", template "name" or tpl.
	What string
}

func (c Call) String() string { return c.Place.String() + " (" + c.What + ")" }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxTrail is how many calls an error prints; of a longer trail it prints the beginning and the end.
const maxTrail = 8

// Error returns one message: where and what, the hint, and the trail on a line of
// its own.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d", e.File, e.Line)
	if e.Column > 0 {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	if e.Expr != "" {
		fmt.Fprintf(&b, ": {{ %s }}", e.Expr)
	}
	b.WriteString(": " + e.Message)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if len(e.Trail) > 0 {
		b.WriteString("\n  called from " + trailText(e.Trail))
	}
	return b.String()
}

func trailText(trail []Call) string {
	parts := make([]string, 0, maxTrail+1)
	for i, p := range trail {
		if len(trail) > maxTrail && i >= maxTrail/2 && i < len(trail)-maxTrail/2 {
			if i == maxTrail/2 {
				parts = append(parts, fmt.Sprintf("%d more", len(trail)-maxTrail))
			}
			continue
		}
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ", ")
}

// failure builds the error for the node being executed.
func (s *state) failure(message string, cause error) *Error {
	e := s.located(s.tmpl, s.node)
	e.Message, e.Err = message, cause
	callee := s.tmpl
	for i := len(s.calls) - 1; i >= 0; i-- {
		at := s.located(s.calls[i].from, s.calls[i].node)
		e.Trail = append(e.Trail, Call{Place{File: at.File, Line: at.Line}, calling(callee, s.calls[i].node)})
		callee = s.calls[i].from
	}
	return e
}

// calling describes how a template was called.
func calling(callee *template, by parse.Node) string {
	if _, ok := by.(*parse.TemplateNode); ok {
		return fmt.Sprintf("template %q", callee.name)
	}
	if callee.name == tplName {
		return "tpl"
	}
	return fmt.Sprintf("include %q", callee.name)
}

// fail ends the render with an error. execution.file recovers the panic.
func (s *state) fail(format string, args ...any) {
	panic(s.failure(fmt.Sprintf(format, args...), nil))
}

// check ends the render when err is not nil.
func (s *state) check(err error) {
	if err != nil {
		panic(s.failure(err.Error(), err))
	}
}

// maxExpr limits how many bytes of an expression an error quotes.
const maxExpr = 120

// located returns an Error with the place and text of a node, and no message yet.
func (s *state) located(t *template, n parse.Node) *Error {
	e := &Error{File: t.file, Line: 1}
	if n == nil {
		return e
	}
	place, _ := t.tree.ErrorContext(n)
	parts := strings.Split(place, ":")
	if len(parts) >= 2 {
		e.Line, _ = strconv.Atoi(parts[len(parts)-2])
		column, _ := strconv.Atoi(parts[len(parts)-1])
		e.Column = column + 1
	}
	e.Expr = strings.Join(strings.Fields(n.String()), " ")
	e.Expr = strings.TrimSuffix(strings.TrimPrefix(e.Expr, "{{"), "}}")
	if len(e.Expr) > maxExpr {
		e.Expr = strings.ToValidUTF8(e.Expr[:maxExpr], "") + "…"
	}
	return e
}

// recovered turns a panic of an execution into an error. A panic other than *Error is a bug in a
// template function; the error names the file.
func recovered(r any, s *state, file string) error {
	if e, ok := r.(*Error); ok {
		return e
	}
	message := fmt.Sprint(r)
	if _, ok := r.(runtime.Error); ok {
		message = "the template can't be executed: " + message
	}
	if s == nil {
		return &Error{File: file, Line: 1, Message: message}
	}
	return s.failure(message, nil)
}

var parsePlace = regexp.MustCompile(`^(\d+)(?::\d+)?: `)

// parseError converts an error from text/template's parser to an Error. name is what the parser calls
// the text.
func parseError(name, file, text string, err error) error {
	e := &Error{File: file, Line: 1, Message: err.Error()}
	rest, _ := strings.CutPrefix(e.Message, "template: "+name+":")
	if m := parsePlace.FindStringSubmatch(rest); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Message = rest[len(m[0]):]
	}
	if name, ok := strings.CutPrefix(e.Message, "function "); ok && strings.HasSuffix(name, " not defined") {
		e.Message = "there is no function " + strings.TrimSuffix(name, " not defined")
	}
	if line := lineOf(text, e.Line); line != "" {
		e.Message += ", in: " + line
	}
	return e
}

func lineOf(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	if n < 1 || len(lines) < n {
		return ""
	}
	line := strings.TrimSpace(lines[n-1])
	if len(line) > maxExpr {
		line = strings.ToValidUTF8(line[:maxExpr], "") + "…"
	}
	return line
}
