package templating

import (
	"strings"
	"text/template/parse"

	"github.com/kubectl-release/kubectl-release/internal/budget"
	"github.com/kubectl-release/kubectl-release/internal/keyuse"
)

// execution is the state of one render.
type execution struct {
	budget.Budget
	options   Options
	functions *registry
	root      *names
	tpls      map[string]*unit
	includes  map[string]int
	calls     []call
	warnings  []string
	buffers   [][]byte
	reads     *keyuse.Reads
	exponents []Place
	// asked counts the calls of a file that Options.Recall knows.
	asked map[string]int
	// words counts what has been parsed, as wordsOf does.
	words int
}

// call is one link of the chain that led to the template being executed.
type call struct {
	from *template
	node parse.Node
}

func newExecution(o Options) *execution {
	e := &execution{
		options:  o,
		root:     &names{own: map[string]*template{}},
		tpls:     map[string]*unit{},
		includes: map[string]int{},
		asked:    map[string]int{},
		reads:    keyuse.New(o.Watch),
	}
	e.functions = newRegistry(e)
	return e
}

// file renders one file in its own scope.
func (e *execution) file(src *source) (text string, err error) {
	e.calls = e.calls[:0]
	clear(e.asked)
	var current *state
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r, current, src.path)
		}
	}()
	src.scope["Template"] = Values{"Name": src.path, "BasePath": src.base}
	current = e.newState(e.root, e.root.lookup(src.path), src.scope)
	current.walk(src.scope, current.tmpl.tree.Root)
	return dropNoValue(current.text()), nil
}

// noValue is what a missing value prints as; it is taken out of every file and
// of what tpl returns, text that was written so on purpose included (Helm
// 4.3.1).
const noValue = "<no value>"

func dropNoValue(text string) string { return strings.ReplaceAll(text, noValue, "") }
