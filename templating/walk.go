package templating

import (
	"reflect"
	"text/template/parse"
)

// state is the execution of one template: its output, its variables and the current node.
type state struct {
	*execution
	names *names
	tmpl  *template
	out   []byte
	vars  []variable
	node  parse.Node
}

type variable struct {
	name  string
	value any
	// alone is how many bytes have been counted for the value if nothing else can hold it: those of a
	// text or list that a function has made for this variable, until the variable is read by more than
	// functions that copy.
	alone int
}

// flow says how execution continues after a node.
type flow int

const (
	onward flow = iota
	breaks
	continues
)

func (e *execution) newState(n *names, t *template, data any) *state {
	s := &state{execution: e, names: n, tmpl: t, vars: make([]variable, 1, 8)}
	s.vars[0] = variable{name: "$", value: data}
	if k := len(e.buffers); k > 0 {
		s.out, e.buffers = e.buffers[k-1], e.buffers[:k-1]
	}
	return s
}

// text returns the output and frees the buffer for the next template.
func (s *state) text() string {
	text := string(s.out)
	s.buffers = append(s.buffers, s.out[:0])
	s.out = nil
	return text
}

func (s *state) write(text string) {
	if err := s.Made(len(text)); err != nil {
		s.check(err)
	}
	s.out = append(s.out, text...)
}

// walk executes one node, with the results of text/template.
func (s *state) walk(dot any, node parse.Node) flow {
	s.node = node
	if err := s.Step(1); err != nil {
		s.check(err)
	}
	switch node := node.(type) {
	case *parse.TextNode:
		if err := s.Made(len(node.Text)); err != nil {
			s.check(err)
		}
		s.out = append(s.out, node.Text...)
	case *parse.ActionNode:
		s.action(dot, node)
	case *parse.ListNode:
		return s.list(dot, node)
	case *parse.IfNode:
		return s.branch(dot, &node.BranchNode, false)
	case *parse.WithNode:
		return s.branch(dot, &node.BranchNode, true)
	case *parse.RangeNode:
		return s.rangeOver(dot, node)
	case *parse.TemplateNode:
		s.invoke(dot, node)
	case *parse.BreakNode:
		return breaks
	case *parse.ContinueNode:
		return continues
	case *parse.CommentNode:
	default:
		s.fail("there is no such statement: %s", node)
	}
	return onward
}

func (s *state) list(dot any, list *parse.ListNode) flow {
	if list == nil {
		return onward
	}
	for _, n := range list.Nodes {
		if f := s.walk(dot, n); f != onward {
			return f
		}
	}
	return onward
}

func (s *state) branch(dot any, b *parse.BranchNode, with bool) (f flow) {
	mark := len(s.vars)
	value := s.pipeline(dot, b.Pipe)
	switch {
	case isTrue(value) && with:
		f = s.list(value, b.List)
	case isTrue(value):
		f = s.list(dot, b.List)
	default:
		f = s.list(dot, b.ElseList)
	}
	s.vars = s.vars[:mark]
	return f
}

// invoke executes {{ template }}: like include, but it writes to the caller's output and has no
// limit on how often one template includes itself.
func (s *state) invoke(dot any, node *parse.TemplateNode) {
	t := s.names.lookup(node.Name)
	if t == nil {
		s.unknownTemplate(node.Name)
	}
	data := s.pipeline(dot, node.Pipe)
	s.node = node
	s.enter(node)
	inner := &state{execution: s.execution, names: s.names, tmpl: t, out: s.out, vars: make([]variable, 1, 8)}
	inner.vars[0] = variable{name: "$", value: data}
	inner.walk(data, t.tree.Root)
	s.out = inner.out
	s.leave()
}

// enter and leave maintain the chain of calls, for limits and errors.
func (s *state) enter(node parse.Node) {
	if len(s.calls) >= maxDepth {
		s.fail("templates call each other more than %d levels deep; look for one that calls itself", maxDepth)
	}
	s.check(s.Step(callSteps))
	s.calls = append(s.calls, call{from: s.tmpl, node: node})
}

func (s *state) leave() { s.calls = s.calls[:len(s.calls)-1] }

// isTrue reports whether text/template counts v as true: neither its type's zero value nor empty.
func isTrue(v any) bool {
	switch v := v.(type) {
	case nil, absent:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case map[string]any:
		return len(v) > 0
	case Values:
		return len(v) > 0
	case []any:
		return len(v) > 0
	case int:
		return v != 0
	case int64:
		return v != 0
	case float64:
		return v != 0
	}
	rv := toReflect(v)
	switch rv.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return rv.Len() > 0
	case reflect.Struct:
		return true
	}
	return !rv.IsZero()
}
