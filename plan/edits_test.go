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

// built are the types of which the plans that Build makes consist.
var built = []string{"Plan", "Document", "Bundle", "Stage", "Wave", "Step", "Expect", "HookRun", "Record", "OnFailure", "RollbackPreview", "Lasting", "Summary"}

// copying are the packages that may make plans out of other plans: with their secrets
// masked.
var copying = []string{"/internal/redact"}

// What is applied, shown and saved is what was planned: no code outside this package makes a plan
// or writes into one, not even into a copy. What the engine knows better is an input of Build.
func TestNobodyEditsAPlan(t *testing.T) {
	const module = "github.com/kubectl-release/kubectl-release"
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, module+"/...")
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		room := strings.TrimPrefix(p.PkgPath, module)
		if room == "/plan" || slices.Contains(copying, room) {
			continue
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
	if reads < 500 {
		t.Errorf("only %d places read a plan: this test sees too little", reads)
	}
}

// edits finds literals of parts of a plan, and assignments to such parts.
type edits struct {
	info  *types.Info
	plan  string // the path of package plan
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
	case *ast.CompositeLit:
		if len(n.Elts) > 0 && e.isPart(n) {
			e.found = append(e.found, n.Pos())
		}
	}
	for _, target := range targets {
		if e.edited(target) {
			e.found = append(e.found, target.Pos())
		}
	}
	return true
}

// edited reports whether an assignment to x changes a part of a plan. Assigning to a variable as a whole
// does not: it only holds the plan.
func (e *edits) edited(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.edited(x.X)
	case *ast.StarExpr:
		return e.isPart(x)
	case *ast.IndexExpr:
		_, list := e.info.TypeOf(x.X).Underlying().(*types.Slice)
		return list && e.isPart(x) || e.edited(x.X)
	case *ast.SelectorExpr:
		return e.isPart(x.X) || e.edited(x.X)
	}
	return false
}

// isPart reports whether x is a part of a plan, or points to one.
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
