package helmfile

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/Masterminds/sprig/v3"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// bounded executes the templates of a helmfile within the limits of a chart's render (package budget): a pull
// request may change them, and neither text/template nor sprig knows any. All templates of a helmfile share
// one budget.
type bounded struct {
	budget budget.Budget
	// always are the functions that depend on nothing but their arguments, counted.
	always template.FuncMap
	// spent is the error of the budget that has ended a template.
	spent error
}

// maxRendered is how much a template may render, in bytes: YAML takes a hundred times as much memory.
const maxRendered = 1 << 20

// limited is a strings.Builder that does not grow beyond maxRendered.
type limited struct {
	strings.Builder
	bounded *bounded
}

func (l *limited) Write(text []byte) (int, error) {
	err := l.bounded.budget.Made(len(text))
	if l.Len()+len(text) > maxRendered {
		err = fmt.Errorf("it renders to more than %d MiB", maxRendered>>20)
	}
	if err := l.bounded.check(err); err != nil {
		return 0, err
	}
	return l.Builder.Write(text)
}

// countSteps is the function that counts the nodes of a template as they are executed.
const countSteps = "countSteps"

// render executes a template. Errors name the file and, as text/template does, the line.
func (r *reader) render(file, text string, data map[string]any) (string, error) {
	b := &r.bounded
	if b.always == nil {
		functions := arguments()
		b.budget.CountMerges(functions)
		b.always = b.counted(functions)
		b.always[countSteps] = func(n int) (string, error) { return "", b.check(b.budget.Step(n)) }
	}
	t, err := template.New(file).Option("missingkey=error").Funcs(b.always).Funcs(b.counted(r.functions(path.Dir(file)))).Parse(text)
	if err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "template: ") + wayOut)
	}
	for _, each := range t.Templates() {
		if err := count(each.Root); err != nil {
			return "", err
		}
	}
	out := limited{bounded: b}
	err = t.Execute(&out, data)
	switch {
	case err != nil && b.spent != nil:
		return "", fmt.Errorf("%s: %w%s", file, b.spent, wayOut)
	case err != nil:
		return "", fmt.Errorf("%w%s", err, wayOut)
	}
	return out.String(), nil
}

// arguments returns the functions of sprig and of text/template that depend on nothing but their arguments.
func arguments() template.FuncMap {
	out := template.FuncMap(sprig.HermeticTxtFuncMap())
	out["print"], out["printf"], out["println"] = fmt.Sprint, fmt.Sprintf, fmt.Sprintln
	out["html"], out["js"], out["urlquery"] = template.HTMLEscaper, template.JSEscaper, template.URLQueryEscaper
	return out
}

// count makes a list of nodes count its nodes whenever it is executed, and each range below it those of
// its body.
func count(l *parse.ListNode) error {
	nodes, err := countBelow(l)
	if err != nil {
		return err
	}
	trees, err := parse.Parse(countSteps, fmt.Sprintf("{{%s %d}}", countSteps, nodes+1), "", "", map[string]any{countSteps: count})
	if err != nil {
		return err
	}
	l.Nodes = slices.Insert(l.Nodes, 0, trees[countSteps].Root.Nodes[0])
	return nil
}

// countBelow returns the number of nodes that executing the list takes at most, without the bodies of
// ranges, and makes these count on their own.
func countBelow(l *parse.ListNode) (int, error) {
	if l == nil {
		return 0, nil
	}
	nodes := len(l.Nodes)
	for _, n := range l.Nodes {
		var branches []*parse.ListNode
		switch n := n.(type) {
		case *parse.IfNode:
			branches = []*parse.ListNode{n.List, n.ElseList}
		case *parse.WithNode:
			branches = []*parse.ListNode{n.List, n.ElseList}
		case *parse.RangeNode:
			branches = []*parse.ListNode{n.ElseList}
			if err := count(n.List); err != nil {
				return 0, err
			}
		}
		for _, branch := range branches {
			below, err := countBelow(branch)
			if err != nil {
				return 0, err
			}
			nodes += below
		}
	}
	return nodes, nil
}

// counted returns the functions so that each call is counted by the budget, and refused if it would take too
// much.
func (b *bounded) counted(functions template.FuncMap) template.FuncMap {
	out := make(template.FuncMap, len(functions))
	for name, f := range functions {
		out[name] = b.function(name, reflect.ValueOf(f))
	}
	return out
}

func (b *bounded) function(name string, f reflect.Value) any {
	cost := budget.FunctionOf(name, f.Type().Out(0))
	t := f.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	failing := reflect.FuncOf(in, []reflect.Type{t.Out(0), reflect.TypeFor[error]()}, t.IsVariadic())
	call := f.Call
	if t.IsVariadic() {
		call = f.CallSlice
	}
	return reflect.MakeFunc(failing, func(args []reflect.Value) []reflect.Value {
		var err error
		out := []reflect.Value{reflect.Zero(t.Out(0))}
		if err = b.check(cost.Before(&b.budget, plain(args, t.IsVariadic()))); err == nil {
			out = call(args)
			err = b.check(cost.After(&b.budget, out[0].Interface()))
		}
		if len(out) == 1 || err != nil {
			out = []reflect.Value{out[0], reflect.ValueOf(&err).Elem()}
		}
		return out
	}).Interface()
}

// check remembers an error of the budget, which ends the template.
func (b *bounded) check(err error) error {
	if err != nil {
		b.spent = err
	}
	return err
}

// plain returns the arguments of a call, those of a variadic parameter one by one.
func plain(args []reflect.Value, variadic bool) []any {
	var out []any
	for i, a := range args {
		if variadic && i == len(args)-1 {
			for k := range a.Len() {
				out = append(out, a.Index(k).Interface())
			}
			break
		}
		out = append(out, a.Interface())
	}
	return out
}
