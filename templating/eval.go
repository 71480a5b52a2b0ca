package templating

import (
	"strings"
	"text/template/parse"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// Values are passed as any. There are two kinds of nil, as in text/template: nil is "no value" (a
// field of it is nil again), absent is a nil in a map or list or a missing entry (a field of it is
// an error). The result of a pipeline is never absent.
type absent struct{}

// piped is what the command before in a pipeline has made, and that command; the zero value means that
// nothing is piped into this one.
type piped struct {
	value any
	by    parse.Node
}

func (p piped) given() bool { return p.by != nil }

func wrapNil(v any) any {
	if v == nil {
		return absent{}
	}
	return v
}

func unwrapNil(v any) any {
	if _, ok := v.(absent); ok {
		return nil
	}
	return v
}

// pipeline evaluates a pipeline and sets the variables that it declares; callers remove them again.
func (s *state) pipeline(dot any, pipe *parse.PipeNode) any {
	if pipe == nil {
		return nil
	}
	value := s.commands(dot, pipe)
	for _, v := range pipe.Decl {
		if pipe.IsAssign {
			s.assign(v.Ident[0], value)
			continue
		}
		s.vars = append(s.vars, variable{name: v.Ident[0], value: value})
	}
	return value
}

// commands evaluates the commands of a pipeline.
func (s *state) commands(dot any, pipe *parse.PipeNode) any {
	s.node = pipe
	var last piped
	for _, cmd := range pipe.Cmds {
		last = piped{value: unwrapNil(s.command(dot, cmd, last)), by: cmd}
	}
	return last.value
}

// action executes an action: it prints the value of the pipeline, or sets variables. What a variable alone
// has held is garbage after an assignment and counts no longer, so {{ $l = append $l . }} in a loop takes
// the memory of one list.
func (s *state) action(dot any, node *parse.ActionNode) {
	pipe := node.Pipe
	if pipe.IsAssign {
		value := s.commands(dot, pipe)
		v := s.find(pipe.Decl[0].Ident[0])
		s.Freed(v.alone)
		v.value, v.alone = value, s.madeBy(pipe, value)
		return
	}
	value := s.pipeline(dot, pipe)
	if len(pipe.Decl) == 0 {
		s.node = node
		s.print(value)
	}
}

// madeBy returns how many bytes have been counted for the value of a pipeline because a function that gathers
// has made it.
func (s *state) madeBy(pipe *parse.PipeNode, value any) int {
	name, ok := pipe.Cmds[len(pipe.Cmds)-1].Args[0].(*parse.IdentifierNode)
	if !ok {
		return 0
	}
	if !s.functions.get(name.Ident).gathers {
		return 0
	}
	return budget.SizeOf(value)
}

func (s *state) assign(name string, value any) {
	v := s.find(name)
	v.value, v.alone = value, 0
}

// variable returns the value of a variable, for whatever may keep it.
func (s *state) variable(name string) any {
	v := s.find(name)
	v.alone = 0
	return v.value
}

func (s *state) find(name string) *variable {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			s.check(s.Step((len(s.vars) - i) / 16))
			return &s.vars[i]
		}
	}
	s.fail("the variable %s is not defined", name)
	return nil
}

// command evaluates one command of a pipeline; final is what is piped into it, its last argument.
func (s *state) command(dot any, cmd *parse.CommandNode, final piped) any {
	first := cmd.Args[0]
	switch n := first.(type) {
	case *parse.FieldNode:
		s.node = n
		return s.fields(dot, dot, n.Ident, site{n, cmd.Args, final})
	case *parse.ChainNode:
		return s.chain(dot, n, cmd.Args, final)
	case *parse.IdentifierNode:
		s.node = n
		return s.function(dot, n, site{cmd, cmd.Args, final})
	case *parse.PipeNode:
		s.notFunction(cmd.Args, final)
		return s.pipeline(dot, n)
	case *parse.VariableNode:
		return s.variableField(dot, n, cmd.Args, final)
	}
	s.node = first
	s.notFunction(cmd.Args, final)
	if _, ok := first.(*parse.NilNode); ok {
		s.fail("nil is not a command")
	}
	return s.literal(dot, first)
}

// notFunction ends the render if a value is given arguments, as if it were a function.
func (s *state) notFunction(args []parse.Node, final piped) {
	if len(args) > 1 || final.given() {
		s.fail("%s is not a function, so it takes no arguments", args[0])
	}
}

// literal evaluates a constant or dot.
func (s *state) literal(dot any, n parse.Node) any {
	s.node = n
	switch n := n.(type) {
	case *parse.StringNode:
		return n.Text
	case *parse.NumberNode:
		return s.number(n)
	case *parse.BoolNode:
		return n.True
	case *parse.DotNode:
		return dot
	}
	s.fail("%s is not a value", n)
	return nil
}

// number converts a constant where any type is accepted: its syntax decides, as in Go.
func (s *state) number(n *parse.NumberNode) any {
	text := n.Text
	hexInt := len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && !strings.ContainsAny(text, "pP")
	switch {
	case n.IsComplex:
		return n.Complex128
	case n.IsFloat && !hexInt && text[0] != '\'' && strings.ContainsAny(text, ".eEpP"):
		return n.Float64
	case n.IsInt:
		return int(n.Int64)
	}
	s.fail("%s is too large a number", text)
	return nil
}

func (s *state) chain(dot any, n *parse.ChainNode, args []parse.Node, final piped) any {
	s.node = n
	if n.Node.Type() == parse.NodeNil {
		s.fail("nil has no fields")
	}
	receiver := s.arg(dot, n.Node, sameParam())
	return s.fields(dot, receiver, n.Field, site{n, args, final})
}

func (s *state) variableField(dot any, n *parse.VariableNode, args []parse.Node, final piped) any {
	s.node = n
	value := s.variable(n.Ident[0])
	if len(n.Ident) == 1 {
		s.notFunction(args, final)
		return value
	}
	return s.fields(dot, value, n.Ident[1:], site{n, args, final})
}
