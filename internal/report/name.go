package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// namer prints objects' names: "Deployment/web" in the release's namespace, "Deployment/web
// (namespace other)" elsewhere. It adds the group if two kinds in the plan have the same name.
type namer struct {
	namespace string
	ambiguous map[string]bool
}

func newNamer(p *plan.Document) namer {
	n := namer{namespace: p.Release.Namespace, ambiguous: map[string]bool{}}
	groups := map[string]string{}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if group, seen := groups[s.Object.Kind]; seen && group != s.Object.Group {
			n.ambiguous[s.Object.Kind] = true
		}
		groups[s.Object.Kind] = s.Object.Group
	})
	return n
}

func (n namer) name(id manifest.ID) string {
	kind := id.Kind
	if n.ambiguous[kind] && id.Group != "" {
		kind += "." + id.Group
	}
	name := kind + "/" + id.Name
	if id.Namespace != "" && id.Namespace != n.namespace {
		name += " (namespace " + id.Namespace + ")"
	}
	return escape.Line(name)
}

// Count returns "1 object" or "3 objects".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// list joins names and shows at most limit of them, all if limit is less than 1.
func list(names []string, limit int) string {
	if limit < 1 || len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}
