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
	// fileTexts are the contents of files that templates have asked for as text, by where they begin.
	fileTexts map[*byte]string
	includes  map[string]int
	calls     []call
	warnings  []string
	buffers   [][]byte
	reads     *keyuse.Reads
	exponents []Place
	unknown   []UnknownKind
	// asked counts the calls in a file whose results come from Options.Recall.
	asked map[string]int
	// words counts what has been parsed, see wordsOf.
	words int
}

// call is one link in the chain of calls that led to the current template.
type call struct {
	from *template
	node parse.Node
}

func newExecution(o Options) *execution {
	e := &execution{
		options:   o,
		root:      &names{own: map[string]*template{}},
		tpls:      map[string]*unit{},
		fileTexts: map[*byte]string{},
		includes:  map[string]int{},
		asked:     map[string]int{},
		reads:     keyuse.New(o.Watch),
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

// noValue is how a missing value prints. It is removed from every file and from the result of tpl,
// even where a chart contains that text on purpose (Helm 4.3.1, pkg/engine/engine.go, render and
// tplFun).
const noValue = "<no value>"

func dropNoValue(text string) string { return strings.ReplaceAll(text, noValue, "") }
