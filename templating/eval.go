package templating

import (
	"strings"
	"text/template/parse"
)

// Values are passed as any. There are two kinds of nil, as in text/template: nil is "no value" (a
// field of it is nil again), absent is a nil in a map or list or a missing entry (a field of it is
// an error). The result of a pipeline is never absent.
type absent struct{}

// noFinal means that nothing was piped into this command.
type noFinal struct{}

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

func isFinal(v any) bool {
	_, none := v.(noFinal)
	return !none
}

// pipeline evaluates a pipeline and sets the variables that it declares; callers remove them again.
func (s *state) pipeline(dot any, pipe *parse.PipeNode) any {
	if pipe == nil {
		return nil
	}
	s.node = pipe
	var value any = noFinal{}
	for _, cmd := range pipe.Cmds {
		value = unwrapNil(s.command(dot, cmd, value))
	}
	for _, v := range pipe.Decl {
		if pipe.IsAssign {
			s.assign(v.Ident[0], value)
			continue
		}
		s.vars = append(s.vars, variable{v.Ident[0], value})
	}
	return value
}

func (s *state) assign(name string, value any) {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			s.check(s.Step((len(s.vars) - i) / 16))
			s.vars[i].value = value
			return
		}
	}
	s.fail("the variable %s is not defined", name)
}

func (s *state) variable(name string) any {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			s.check(s.Step((len(s.vars) - i) / 16))
			return s.vars[i].value
		}
	}
	s.fail("the variable %s is not defined", name)
	return nil
}

// command evaluates one command of a pipeline; final is the result of the command before it.
func (s *state) command(dot any, cmd *parse.CommandNode, final any) any {
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
func (s *state) notFunction(args []parse.Node, final any) {
	if len(args) > 1 || isFinal(final) {
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

func (s *state) chain(dot any, n *parse.ChainNode, args []parse.Node, final any) any {
	s.node = n
	if n.Node.Type() == parse.NodeNil {
		s.fail("nil has no fields")
	}
	receiver := s.arg(dot, n.Node, sameParam())
	return s.fields(dot, receiver, n.Field, site{n, args, final})
}

func (s *state) variableField(dot any, n *parse.VariableNode, args []parse.Node, final any) any {
	s.node = n
	value := s.variable(n.Ident[0])
	if len(n.Ident) == 1 {
		s.notFunction(args, final)
		return value
	}
	return s.fields(dot, value, n.Ident[1:], site{n, args, final})
}
