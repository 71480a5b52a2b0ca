package command

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urfave/cli/v2"
	"golang.org/x/tools/go/packages"
)

// commands returns all commands by their paths, such as "plan rollback".
func commands(of []*cli.Command, parent string) map[string]*cli.Command {
	all := map[string]*cli.Command{}
	for _, c := range of {
		path := strings.TrimSpace(parent + " " + c.Name)
		all[path] = c
		maps.Copy(all, commands(c.Subcommands, path))
	}
	return all
}

const room = "github.com/kubectl-release/kubectl-release/"

// code is what the code of this package and the engine says about commands. Functions are
// keyed by their full names.
type code struct {
	functions map[string]part
	bodies    map[string]*ast.FuncDecl
	infos     map[string]*types.Info
	// owners maps fields to the names of this package's structs.
	owners map[types.Object]string
	// commands are keyed by their paths.
	commands map[string]definition
}

// definition is where a command's flags are declared, and where its code begins.
type definition struct {
	flags, action part
	readOnly      bool
}

// part is what a piece of code mentions: functions, fields and variables that it binds
// flags to, and those that it reads.
type part struct {
	uses        []string
	bound, read map[types.Object]bool
}

func load(t *testing.T) *code {
	t.Helper()
	s, err := loadOnce()
	if err != nil {
		t.Fatalf("load the source: %v", err)
	}
	return s
}

var loadOnce = sync.OnceValues(func() (*code, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, room+"internal/command", room+"internal/engine", room+"internal/setrun")
	if err != nil {
		return nil, err
	}
	if n := packages.PrintErrors(loaded); n > 0 {
		return nil, fmt.Errorf("%d errors in it", n)
	}
	s := &code{
		functions: map[string]part{}, bodies: map[string]*ast.FuncDecl{}, infos: map[string]*types.Info{},
		owners: map[types.Object]string{}, commands: map[string]definition{},
	}
	for _, p := range loaded {
		s.own(p.Types.Scope())
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				name := p.TypesInfo.Defs[f.Name].(*types.Func).FullName()
				s.bodies[name], s.infos[name] = f, p.TypesInfo
				s.functions[name] = mentions(p.TypesInfo, f.Body)
			}
		}
	}
	s.define("(*"+room+"internal/command.program).appOf", "Commands", "")
	return s, nil
})

// own records which struct each field belongs to.
func (s *code) own(scope *types.Scope) {
	for _, name := range scope.Names() {
		if structure, ok := scope.Lookup(name).Type().Underlying().(*types.Struct); ok {
			for field := range structure.Fields() {
				s.owners[field] = name
			}
		}
	}
}

// name returns the name of a field with its struct, or that of a variable.
func (s *code) name(o types.Object) string {
	if owner := s.owners[o]; owner != "" {
		return owner + "." + o.Name()
	}
	return o.Name()
}

// ofFlag reports whether a field exists for a flag to be bound to.
func (s *code) ofFlag(o types.Object) bool {
	return strings.HasSuffix(s.owners[o], "Flags") && isValue(o.Type())
}

// mentions returns what is in a piece of code.
func mentions(info *types.Info, nodes ...ast.Node) part {
	m := part{bound: map[types.Object]bool{}, read: map[types.Object]bool{}}
	for _, node := range nodes {
		ast.Inspect(node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				if n.Op == token.AND && isValue(info.TypeOf(n.X)) {
					if o := object(info, n.X); o != nil {
						m.bound[o] = true
						if field, ok := n.X.(*ast.SelectorExpr); ok {
							m.bound[info.Uses[field.Sel]] = true // it may be another package's
						}
						return false
					}
				}
			case *ast.SelectorExpr:
				if selection := info.Selections[n]; selection != nil && selection.Kind() != types.FieldVal {
					for _, o := range fieldPath(selection) { // fields on the way to a method
						m.read[o] = true
					}
				} else if o := object(info, n); o != nil {
					m.read[o] = true
				}
			case *ast.Ident:
				if v, ok := info.Uses[n].(*types.Var); ok && !v.IsField() {
					m.read[v] = true
				}
				if f, ok := info.Uses[n].(*types.Func); ok && f.Pkg() != nil && strings.HasPrefix(f.Pkg().Path(), room) {
					m.uses = append(m.uses, f.FullName())
				}
			}
			return true
		})
	}
	return m
}

// isValue reports whether a flag can be bound to something of a type; structs of this
// package hold several.
func isValue(of types.Type) bool {
	named, ok := of.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != room+"internal/command" {
		return true
	}
	return named.Obj().Name() == "optional"
}

// object returns what an expression such as o.source.chart.version refers to: the last
// field in it that this package declares, or the variable.
func object(info *types.Info, of ast.Expr) types.Object {
	switch e := of.(type) {
	case *ast.Ident:
		if v, ok := info.Uses[e].(*types.Var); ok {
			if _, pointer := v.Type().(*types.Pointer); !pointer {
				return v
			}
		}
	case *ast.SelectorExpr:
		selection := info.Selections[e]
		if selection == nil || selection.Kind() != types.FieldVal {
			return nil
		}
		fields := fieldPath(selection)
		for i := len(fields) - 1; i >= 0; i-- {
			if f := fields[i]; f.Pkg().Path() == room+"internal/command" && f.Name() != "value" && f.Name() != "given" {
				return f
			}
		}
		return object(info, e.X)
	}
	return nil
}

// fieldPath returns the fields that a selection leads through, including embedded ones.
func fieldPath(selection *types.Selection) []*types.Var {
	var out []*types.Var
	at := selection.Recv()
	for i, index := range selection.Index() {
		if pointer, ok := at.Underlying().(*types.Pointer); ok {
			at = pointer.Elem()
		}
		structure, ok := at.Underlying().(*types.Struct)
		if !ok || i == len(selection.Index())-1 && selection.Kind() != types.FieldVal {
			break // the last one is a method
		}
		field := structure.Field(index)
		out, at = append(out, field), field.Type()
	}
	return out
}

// define finds the commands in a field, Commands or Subcommands, of what a
// function returns.
func (s *code) define(function, field, parent string) {
	info := s.infos[function]
	factories := map[types.Object]*ast.CompositeLit{}
	ast.Inspect(s.bodies[function], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if f, ok := n.Rhs[0].(*ast.FuncLit); ok {
				factories[info.Defs[n.Lhs[0].(*ast.Ident)]] = command(info, f)
			}
		case *ast.KeyValueExpr:
			list, ok := n.Value.(*ast.CompositeLit)
			if key, isField := n.Key.(*ast.Ident); !ok || !isField || key.Name != field {
				return true
			}
			for _, element := range list.Elts {
				call := element.(*ast.CallExpr)
				if f, ok := call.Fun.(*ast.Ident); ok {
					s.add(info, factories[info.Uses[f]], parent, call.Args...)
					continue
				}
				name := info.Uses[call.Fun.(*ast.SelectorExpr).Sel].(*types.Func).FullName()
				path := s.add(s.infos[name], command(s.infos[name], s.bodies[name]), parent)
				s.define(name, "Subcommands", path)
			}
		}
		return true
	})
}

// command returns the last literal of a command in a function: the one it returns.
func command(info *types.Info, function ast.Node) (found *ast.CompositeLit) {
	ast.Inspect(function, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && info.Types[lit].Type.String() == "github.com/urfave/cli/v2.Command" {
			found = lit
		}
		return true
	})
	return found
}

// add keeps a command's definition and returns its path. args are the arguments of the
// function that makes it: first its name, then what it calls, and flags.
func (s *code) add(info *types.Info, literal *ast.CompositeLit, parent string, args ...ast.Expr) string {
	fields := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		pair := e.(*ast.KeyValueExpr)
		fields[pair.Key.(*ast.Ident).Name] = pair.Value
	}
	name, more := fields["Name"], []ast.Node{}
	if len(args) > 0 {
		name = args[0]
		for _, a := range args[1:] {
			more = append(more, a)
		}
	}
	d := definition{action: mentions(info, append(more, fields["Action"])...)}
	if fields["Flags"] != nil {
		d.flags = mentions(info, append(more, fields["Flags"])...)
	}
	if wrapper, ok := fields["Action"].(*ast.CallExpr); ok {
		called, isMethod := wrapper.Fun.(*ast.SelectorExpr)
		d.readOnly = isMethod && called.Sel.Name == "readOnly"
	}
	path := strings.TrimSpace(parent + " " + constant.StringVal(info.Types[name].Value))
	s.commands[path] = d
	return path
}

// reached returns what a piece of code, and all functions that it may call, mention.
func (s *code) reached(from part) part {
	all := part{uses: from.uses, bound: maps.Clone(from.bound), read: maps.Clone(from.read)}
	seen := map[string]bool{}
	for i := 0; i < len(all.uses); i++ {
		name := all.uses[i]
		if seen[name] {
			continue
		}
		seen[name] = true
		used, known := s.functions[name]
		if !known { // an interface's method is any method of that name
			used.uses = s.methods(name)
		}
		all.uses = append(all.uses, used.uses...)
		maps.Copy(all.bound, used.bound)
		maps.Copy(all.read, used.read)
	}
	return all
}

// elsewhereOnce returns the names of all fields that code outside this package mentions.
var elsewhereOnce = sync.OnceValues(func() (map[string]bool, error) {
	names := map[string]bool{}
	root := filepath.Join("..", "..")
	return names, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || filepath.Dir(file) == filepath.Join(root, "internal", "command") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				names[selector.Sel.Name] = true
			}
			return true
		})
		return nil
	})
})

// methods returns this package's methods with the name of an interface's method, given in full.
func (s *code) methods(name string) []string {
	var out []string
	if _, method, ok := strings.Cut(name, ")."); ok && strings.HasPrefix(name, "("+room+"internal/command.") {
		for other := range s.functions {
			if strings.HasPrefix(other, "(") && strings.Contains(other, room+"internal/command.") && strings.HasSuffix(other, ")."+method) {
				out = append(out, other)
			}
		}
	}
	return out
}
