package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/tools/go/packages"

	"github.com/kubectl-release/kubectl-release/internal/invocation"
)

// A flag that a command reads without having it is "" or false, whatever people
// say. That is meant where lacking says so, and nowhere else.
func TestCommandsHaveTheFlagsThatTheyRead(t *testing.T) {
	source := load(t)
	for path, c := range commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "") {
		action, known := source.actions[path]
		if !known {
			t.Errorf("%s: its action is not found in the source", path)
			continue
		}
		has, missing := flagIndex(c.Flags), map[string]string{}
		for _, f := range source.reached(action) {
			for _, name := range source.reads[f] {
				if has[name] == nil {
					missing[name] = f
				}
			}
		}
		meant := strings.Fields(lacking[path])
		for name, f := range missing {
			if !slices.Contains(meant, name) {
				t.Errorf("%s has no flag --%s, which %s reads", path, name, f)
			}
		}
		for _, name := range meant {
			if missing[name] == "" {
				t.Errorf("%s is said to lack --%s, and has it or does not read it", path, name)
			}
		}
	}
}

// A flag that is declared has to be read: by code that its command's action may call,
// in which one of its names is a word. unread are those that mean nothing there.
func TestFlagsAreRead(t *testing.T) {
	source := load(t)
	everywhere := flagIndex(joined(connectionFlags(), pathFlags())) // as Helm's global flags, also where nothing is asked of a server
	for path, c := range commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "") {
		words := map[string]bool{}
		for _, f := range source.reached(source.actions[path]) {
			for _, word := range source.words[f] {
				words[word] = true
			}
		}
		meant := strings.Fields(unread[path])
		idle := map[string]bool{}
		for _, f := range helmFlagsOf(path, nil) {
			idle[f.name()] = true
		}
		for _, f := range c.Flags {
			if idle[f.Names()[0]] && !f.(cli.VisibleFlag).IsVisible() {
				continue
			}
			if everywhere[f.Names()[0]] != nil {
				continue
			}
			read := slices.ContainsFunc(f.Names(), func(name string) bool { return words[name] })
			if told := slices.Contains(meant, f.Names()[0]); read == told {
				t.Errorf("%s: --%s is read: %v; said to be unread: %v", path, f.Names()[0], read, told)
			}
		}
	}
}

// unread are flags that say nothing to a command and are there for people who write
// the flags of another one: a plan takes no lock and renders no other CRDs.
var unread = map[string]string{
	"plan": "lock-timeout", "plan rollback": "lock-timeout", "plan uninstall": "lock-timeout", "plan graph": "lock-timeout",
	"template": "update-crds", "push": "pass-credentials",
}

// lacking are the flags that a command does without although code which it shares
// with others reads them.
var lacking = map[string]string{
	"install":   "cascade keep-history reuse-values reset-values reset-then-reuse-values api-versions include-crds is-upgrade kube-version lookup show-only skip-tests validate " + saving,
	"upgrade":   "cascade keep-history replace " + saving,
	"rollback":  "cascade keep-history replace skip-crds update-crds " + saving,
	"uninstall": changing + " replace " + saving,
	"test":      changing + " replace cascade keep-history deny policy " + saving,
	// What belongs to one operation alone is not planned by itself.
	"apply":          "cascade keep-history replace dry-run hide-notes",
	"plan":           "cascade keep-history replace",
	"plan rollback":  "cascade keep-history replace skip-crds update-crds",
	"plan uninstall": changing + " replace",
	"plan graph":     "cascade keep-history replace sensitive full summary only context-lines marker max-bytes spill out encrypt encrypt-to detailed-exitcode",
	"template":       "reuse-values reset-values reset-then-reuse-values show-secrets",
	"show all":       "jsonpath",
	"unlock":         "output show-secrets",
	// They print no plan: what the client library logs for them stays masked.
	"list": "show-secrets", "status": "show-secrets", "history": "show-secrets", "lint": "show-secrets",
	"get all": "show-secrets", "get hooks": "show-secrets", "get manifest": "show-secrets",
	"get metadata": "show-secrets", "get notes": "show-secrets", "get values": "show-secrets",
}

const (
	// saving are the flags of plans that are kept: a dry run only shows its plan.
	saving = "out encrypt encrypt-to passphrase-file detailed-exitcode"
	// changing are those of operations that send a chart's objects.
	changing = "atomic cleanup-on-fail create-namespace force force-conflicts history-max labels skip-crds take-ownership update-crds"
)

// A command is cut off by a signal where its definition says that it only reads,
// which is so exactly where nothing that it calls writes to a cluster.
func TestCommandsThatOnlyReadSaySo(t *testing.T) {
	source := load(t)
	all := commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "")
	var writing []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		action := source.actions[path]
		writes := slices.ContainsFunc(source.reached(action), func(f string) bool { return writers[f] })
		if writes {
			writing = append(writing, path)
		}
		if action.readOnly == writes {
			t.Errorf("%s: its action is wrapped in readOnly: %v; it writes: %v", path, action.readOnly, writes)
		}
	}
	if len(writing) < 7 || len(writing) == len(all) {
		t.Errorf("of %d commands these write: %v", len(all), writing)
	}
}

// writers are what all that changes a cluster goes through.
var writers = map[string]bool{
	"(*" + room + "releasestore.Locker).Lock": true,
	"(*" + room + "releasestore.Locker).Free": true,
	room + "apply.Run":                        true,
}

// A new command ends in its own way on a signal unless its definition says that
// it only reads.
func TestSignalCutsOffWhatOnlyReads(t *testing.T) {
	p := &program{}
	for name, c := range map[string]struct {
		wrap func(cli.ActionFunc) cli.ActionFunc
		cut  bool
	}{
		"readOnly": {p.readOnly, true},
		"default":  {func(action cli.ActionFunc) cli.ActionFunc { return action }, false},
	} {
		t.Run(name, func(t *testing.T) {
			begun, goOn := make(chan struct{}), make(chan struct{})
			command := &cli.Command{Name: "new", Action: c.wrap(func(*cli.Context) error {
				close(begun)
				<-goOn
				return errors.New("ended in its own way")
			})}
			p.finishCommands("", []*cli.Command{command})
			ctx, signal := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				app := &cli.App{Commands: []*cli.Command{command}, ExitErrHandler: func(*cli.Context, error) {}}
				ended <- app.RunContext(ctx, []string{"program", "new"})
			}()
			<-begun
			signal()
			if c.cut {
				if err := <-ended; err.Error() != "stopped by a signal" {
					t.Errorf("it ended by %v", err)
				}
				close(goOn)
				return
			}
			select {
			case err := <-ended:
				t.Errorf("it was cut off: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			close(goOn)
			if err := <-ended; err.Error() != "ended in its own way" {
				t.Errorf("it ended by %v", err)
			}
		})
	}
}

// commands are all commands by their paths, such as "plan rollback".
func commands(of []*cli.Command, parent string) map[string]*cli.Command {
	all := map[string]*cli.Command{}
	for _, c := range of {
		if c.Name == "help" {
			continue // the library's
		}
		path := strings.TrimSpace(parent + " " + c.Name)
		all[path] = c
		maps.Copy(all, commands(c.Subcommands, path))
	}
	return all
}

const room = "github.com/kubectl-release/kubectl-release/"

// code is what the code of this room and the engine says about commands.
// Functions go by their full names.
type code struct {
	// uses are the functions that a function mentions, reads the flags that it
	// looks up.
	uses, reads, words map[string][]string
	bodies             map[string]*ast.FuncDecl
	infos              map[string]*types.Info
	// actions are those of commands by their paths.
	actions map[string]action
}

// action is where a command's code begins.
type action struct {
	uses, reads, words []string
	readOnly           bool
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
	}, room+"internal/command", room+"internal/engine")
	if err != nil {
		return nil, err
	}
	if n := packages.PrintErrors(loaded); n > 0 {
		return nil, fmt.Errorf("%d errors in it", n)
	}
	s := &code{
		uses: map[string][]string{}, reads: map[string][]string{}, words: map[string][]string{}, actions: map[string]action{},
		bodies: map[string]*ast.FuncDecl{}, infos: map[string]*types.Info{},
	}
	for _, p := range loaded {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				name := p.TypesInfo.Defs[f.Name].(*types.Func).FullName()
				s.bodies[name], s.infos[name] = f, p.TypesInfo
				s.uses[name], s.reads[name], s.words[name] = mentions(p.TypesInfo, f.Body)
			}
		}
	}
	s.define("(*"+room+"internal/command.program).app", "Commands", "")
	return s, nil
})

// mentions are the functions, the flags that are read and all constant words in a
// piece of code.
func mentions(info *types.Info, nodes ...ast.Node) (uses, reads, words []string) {
	for _, node := range nodes {
		ast.Inspect(node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if v := info.Types[n].Value; v != nil && v.Kind() == constant.String {
					words = append(words, constant.StringVal(v))
				}
			case *ast.Ident:
				if v, ok := info.Uses[n].(*types.Const); ok && v.Val().Kind() == constant.String {
					words = append(words, constant.StringVal(v.Val()))
				}
				if f, ok := info.Uses[n].(*types.Func); ok && f.Pkg() != nil && strings.HasPrefix(f.Pkg().Path(), room) {
					uses = append(uses, f.FullName())
				}
			case *ast.CallExpr:
				method, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) != 1 {
					return true
				}
				f, ok := info.Uses[method.Sel].(*types.Func)
				if v := info.Types[n.Args[0]].Value; ok && v != nil && strings.HasPrefix(f.FullName(), "(*github.com/urfave/cli/v2.Context).") {
					reads = append(reads, constant.StringVal(v))
				}
			}
			return true
		})
	}
	return uses, reads, words
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

// command is the last literal of a command in a function: the one it returns.
func command(info *types.Info, function ast.Node) (found *ast.CompositeLit) {
	ast.Inspect(function, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && info.Types[lit].Type.String() == "github.com/urfave/cli/v2.Command" {
			found = lit
		}
		return true
	})
	return found
}

// add keeps the action of a command and returns the command's path. args are
// those of the function that makes it: first its name, then what it calls.
func (s *code) add(info *types.Info, literal *ast.CompositeLit, parent string, args ...ast.Expr) string {
	fields := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		pair := e.(*ast.KeyValueExpr)
		fields[pair.Key.(*ast.Ident).Name] = pair.Value
	}
	name := fields["Name"]
	nodes := []ast.Node{fields["Action"]}
	if len(args) > 0 {
		name = args[0]
		for _, a := range args[1:] {
			nodes = append(nodes, a)
		}
	}
	var a action
	a.uses, a.reads, a.words = mentions(info, nodes...)
	if wrapper, ok := fields["Action"].(*ast.CallExpr); ok {
		called, isMethod := wrapper.Fun.(*ast.SelectorExpr)
		a.readOnly = isMethod && called.Sel.Name == "readOnly"
	}
	path := strings.TrimSpace(parent + " " + constant.StringVal(info.Types[name].Value))
	s.actions[path] = a
	return path
}

// reached are all functions that may be called, the action's own code first.
func (s *code) reached(a action) []string {
	own := "the action itself"
	s.uses[own], s.reads[own], s.words[own] = a.uses, a.reads, a.words
	seen, open := map[string]bool{own: true}, []string{own}
	for len(open) > 0 {
		f := open[0]
		open = open[1:]
		for _, used := range s.uses[f] {
			if !seen[used] {
				seen[used] = true
				open = append(open, used)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return cmp.Compare(a, b) })
}
