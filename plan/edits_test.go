package plan_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// built are the types that a plan consists of when Build has made it.
var built = []string{"Plan", "Stage", "Wave", "Step", "Expect", "HookRun", "Record", "OnFailure", "RollbackPreview", "Lasting", "Summary"}

// What is played is what was planned: no room that wires, plays or prints a plan
// writes into it. internal/redact is not among them: it masks copies of its own.
func TestNobodyEditsAPlan(t *testing.T) {
	const module = "github.com/kubectl-release/kubectl-release"
	rooms := []string{module, module + "/apply", module + "/internal/engine", module + "/internal/command", module + "/internal/cluster", module + "/internal/planfile", module + "/sdk"}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, rooms...)
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		edits := edits{info: p.TypesInfo, plan: module + "/plan"}
		for _, file := range p.Syntax {
			ast.Inspect(file, edits.visit)
		}
		for _, at := range edits.found {
			t.Errorf("%s writes into a plan", p.Fset.Position(at))
		}
		reads += edits.reads
	}
	if reads < 100 {
		t.Errorf("only %d places read a plan: this test sees too little", reads)
	}
}

// described are fields that tell of a plan and its file, and that nothing plays.
var described = []string{"PlanDigest", "EffectDigest", "Origin"}

// edits finds assignments to what a plan consists of.
type edits struct {
	info  *types.Info
	plan  string // the package's path
	reads int
	found []token.Pos
}

func (e *edits) visit(n ast.Node) bool {
	var targets []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		targets = n.Lhs
	case *ast.IncDecStmt:
		targets = []ast.Expr{n.X}
	case *ast.SelectorExpr:
		if e.isPart(n.X) {
			e.reads++
		}
	}
	for _, target := range targets {
		if e.edited(target) {
			e.found = append(e.found, target.Pos())
		}
	}
	return true
}

// edited says whether an assignment to x reaches into a plan that others have, too:
// through a pointer or a slice. A struct that is a variable itself is a copy.
func (e *edits) edited(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.edited(x.X)
	case *ast.StarExpr:
		return e.isPart(x)
	case *ast.IndexExpr:
		return e.isPart(x) || e.edited(x.X)
	case *ast.SelectorExpr:
		if slices.Contains(described, x.Sel.Name) {
			return false
		}
		if !e.isPart(x.X) {
			return e.edited(x.X)
		}
		if _, shared := e.info.TypeOf(x.X).Underlying().(*types.Pointer); shared {
			return true
		}
		return e.edited(x.X)
	}
	return false
}

// isPart says whether x is a part of a plan, or points to one.
func (e *edits) isPart(x ast.Expr) bool {
	t := e.info.TypeOf(x)
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && strings.HasSuffix(named.Obj().Pkg().Path(), e.plan) && slices.Contains(built, named.Obj().Name())
}
