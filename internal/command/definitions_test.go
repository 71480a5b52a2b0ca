package command

import (
	"context"
	"errors"
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/invocation"
)

// A field that a command reads without declaring the flag for it is "" or false, whatever people type.
// That is intended where lacking says so, and nowhere else.
func TestCommandsHaveTheFlagsThatTheyRead(t *testing.T) {
	source := load(t)
	for path, c := range source.commands {
		bound, missing := source.reached(c.flags).bound, map[string]bool{}
		for field := range source.reached(c.action).read {
			if name := source.name(field); source.ofFlag(field) && !bound[field] && !everywhere(name) {
				missing[name] = true
			}
		}
		if got := slices.Sorted(maps.Keys(missing)); !slices.Equal(got, strings.Fields(lacking[path])) {
			t.Errorf("%s reads %v without having flags for these; said to be meant: %s", path, got, lacking[path])
		}
	}
}

// A declared flag must be read: code that the command's action may call must mention the field that the
// flag is bound to. unread lists those that mean nothing there.
func TestFlagsAreRead(t *testing.T) {
	source := load(t)
	fields := 0
	for path, c := range source.commands {
		read, idle := source.reached(c.action).read, map[string]bool{}
		for field := range source.reached(c.flags).bound {
			name := source.name(field)
			if fields++; !read[field] && !everywhere(name) && !readElsewhere(t, field) {
				idle[name] = true
			}
		}
		if got := slices.Sorted(maps.Keys(idle)); !slices.Equal(got, strings.Fields(unread[path])) {
			t.Errorf("%s has flags for %v, which it does not read; said to be unread: %s", path, got, unread[path])
		}
	}
	if fields < 700 {
		t.Errorf("only %d flags were looked for", fields)
	}
}

// A flag bound to nothing can't be read, and of two with the same name only one can. Helm's flags that
// mean nothing here are not bound; no help shows them.
func TestFlagsAreBoundToOneFieldEach(t *testing.T) {
	for path, c := range commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "") {
		names := map[string]bool{}
		for _, f := range c.Flags {
			if to := reflect.ValueOf(f).Elem().FieldByName("Destination"); f.(cli.VisibleFlag).IsVisible() && f != cli.HelpFlag && to.IsNil() {
				t.Errorf("%s: --%s is bound to nothing", path, f.Names()[0])
			}
			for _, name := range f.Names() {
				if names[name] {
					t.Errorf("%s: --%s is bound to two fields", path, name)
				}
				names[name] = true
			}
		}
	}
}

// readElsewhere reports, for a field of another package, such as plan.Options, whether code outside this
// one mentions a field of that name.
func readElsewhere(t *testing.T, field types.Object) bool {
	t.Helper()
	if field.Pkg().Path() == room+"internal/command" {
		return field.Name() == "value" // it is read with its optional
	}
	names, err := elsewhereOnce()
	if err != nil {
		t.Fatal(err)
	}
	return names[field.Name()]
}

// unread lists fields of flags that mean nothing to a command and exist for people who type the flags of
// another one: a plan takes no lock and renders no other CRDs.
var unread = map[string]string{
	"plan": "optionFlags.lock", "plan rollback": "optionFlags.lock", "plan uninstall": "optionFlags.lock", "plan graph": "optionFlags.lock",
	"template": "renderFlags.skipCRDs renderFlags.updateCRDs",
}

// lacking lists the fields that a command does without although code it shares with others reads them.
var lacking = map[string]string{
	// install --dry-run=client prints what template prints without its flags.
	"install": "capabilityFlags.apiVersions capabilityFlags.kubeVersion reuseFlags.reset reuseFlags.resetThenReuse reuseFlags.reuse " +
		"templateFlags.dryRun templateFlags.includeCRDs templateFlags.isUpgrade templateFlags.lookup templateFlags.noHooks templateFlags.showOnly templateFlags.skipTests templateFlags.validate",
	"template": "reuseFlags.reset reuseFlags.resetThenReuse reuseFlags.reuse",
	// Only a dry run of a chart has Secrets to hide. apply plans first in any case, and always prints notes.
	"apply": "runFlags.dryRun runFlags.hideSecret showFlags.hideNotes", "rollback": "runFlags.hideSecret",
	// They send no chart's objects, and a test has nothing to deny.
	"uninstall": "optionFlags.labels runFlags.hideSecret", "plan uninstall": "optionFlags.labels",
	"test": "optionFlags.deny optionFlags.labels optionFlags.policies runFlags.hideSecret",
	// A graph is neither text nor Markdown, and is not saved.
	"plan graph": "effectFlags.keyFile planFileFlags.commit planFileFlags.detailedExitCode planFileFlags.encrypt planFileFlags.encryptTo planFileFlags.out planFileFlags.sign readerFlags.judged readerFlags.judgedGroup readerFlags.readOnly " +
		"showFlags.color showFlags.contextLines showFlags.full showFlags.marker showFlags.maxBytes showFlags.only showFlags.reports showFlags.sensitive showFlags.spill showFlags.summary",
	// Charts of a set are in its tree, or fetched; a set is approved by its digest.
	"plan many": "fetchFlags.load",
	// A set was shown when it was planned.
	"apply many": "readerFlags.judged readerFlags.judgedGroup readerFlags.readOnly showFlags.color showFlags.contextLines showFlags.full showFlags.hideNotes showFlags.marker showFlags.maxBytes showFlags.only showFlags.reports showFlags.spill showFlags.summary",
	// It asks whether the chart is still the same, and fetches none; the plan says what is masked.
	"plan check": "fetchFlags.allowMismatch showFlags.sensitive verifyFlags.identity verifyFlags.identityRegexp verifyFlags.issuer verifyFlags.key verifyFlags.keyring verifyFlags.trustedRoot verifyFlags.verify",
	"show all":   "showChartFlags.jsonPath",
}

// everywhere reports whether a field belongs to flags that mean the same for every command and that
// exist, like Helm's global flags, even where no server is asked.
func everywhere(field string) bool {
	owner, _, _ := strings.Cut(field, ".")
	return slices.Contains([]string{"program", "connectionFlags", "pathFlags"}, owner)
}

// parsing lists all functions that have a *cli.Context parameter, or contain a function that has one.
var parsing = []string{
	"(*" + room + "internal/command.optional[T]).note",
	"(*" + room + "internal/command.program).appOf",
	"(*" + room + "internal/command.program).complete",
	"(*" + room + "internal/command.program).finishCommands",
	"(*" + room + "internal/command.program).presented",
	"(*" + room + "internal/command.program).readOnly",
	"(*" + room + "internal/command.program).searchCommand",
	"(*" + room + "internal/command.program).take",
	"notEmpty", "only", "takesBetween",
}

// Below an action there are typed values: nothing there can read a flag by its name and get "" for one
// that the command does not have. parsing lists the functions that deal with the parser.
func TestNothingBelowAnActionSeesTheParser(t *testing.T) {
	found := map[string]bool{}
	for name, f := range load(t).bodies {
		ast.Inspect(f, func(n ast.Node) bool {
			signature, ok := n.(*ast.FuncType)
			if !ok {
				return true
			}
			for _, parameter := range signature.Params.List {
				pointer, _ := parameter.Type.(*ast.StarExpr)
				if pointer == nil {
					continue
				}
				if selector, ok := pointer.X.(*ast.SelectorExpr); ok && selector.Sel.Name == "Context" {
					found[strings.TrimPrefix(name, room+"internal/command.")] = true
				}
			}
			return true
		})
	}
	if diff := cmp.Diff(parsing, slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("-said to take *cli.Context +takes it:\n%s", diff)
	}
}

// A signal cuts a command off where its definition says that it only reads, which is the case exactly
// where nothing it calls writes to a cluster.
func TestCommandsThatOnlyReadSaySo(t *testing.T) {
	source := load(t)
	all := commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "")
	var writing []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		c, known := source.commands[path]
		if !known {
			t.Errorf("%s: its definition is not found in the source", path)
		}
		writes := slices.ContainsFunc(source.reached(c.action).uses, func(f string) bool { return writers[f] })
		if writes {
			writing = append(writing, path)
		}
		if c.readOnly == writes {
			t.Errorf("%s: its action is wrapped in readOnly: %v; it writes: %v", path, c.readOnly, writes)
		}
	}
	if len(writing) < 7 || len(writing) == len(all) {
		t.Errorf("of %d commands these write: %v", len(all), writing)
	}
}

// writers are the functions that every change to a cluster goes through.
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
