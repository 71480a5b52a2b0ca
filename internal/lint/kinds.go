package lint

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Kinds knows the kinds that are part of Kubernetes, as of the version of its
// API definitions.
type Kinds interface {
	// Misfits checks an object against the fields of its kind. A kind that is not known
	// has none.
	Misfits(o manifest.Object) Misfits
	// Life returns when a version of a kind came and goes. known is false for kinds in
	// groups that are not part of Kubernetes.
	Life(gvk schema.GroupVersionKind) (life Life, known bool)
	// Release is the Kubernetes version of the definitions, such as "1.36".
	Release() string
}

// Misfits is what is wrong with an object's fields.
type Misfits struct {
	// Unknown are paths of fields that the kind does not have, such as
	// "spec.template.spec.conatiners". The API server drops them.
	Unknown []string
	// Mistyped says which field has a value of the wrong type, "" when none
	// has. The API server refuses the object.
	Mistyped string
}

// Life is when a version of a kind came and goes. A zero Minor is unknown.
type Life struct {
	// Gone says that the definitions don't have it (any more).
	Gone                            bool
	Introduced, Deprecated, Removed Minor
	// Replacement is "networking.k8s.io/v1 Ingress", or "".
	Replacement string
}

// Minor is a Kubernetes version without its patch level.
type Minor struct{ Major, Minor int }

func (m Minor) String() string { return fmt.Sprintf("%d.%d", m.Major, m.Minor) }

func (m Minor) isZero() bool { return m == Minor{} }

// after reports whether m is later than n.
func (m Minor) after(n Minor) bool {
	return m.Major > n.Major || m.Major == n.Major && m.Minor > n.Minor
}

// version is the Kubernetes version that the chart is linted for.
func (r *run) version() Minor {
	v, _ := templating.ParseKubeVersion(r.Options.Capabilities.KubeVersion.Version) // a cluster's minor may be "33+"
	major, _ := strconv.Atoi(v.Major)
	minor, _ := strconv.Atoi(v.Minor)
	return Minor{major, minor}
}

// life warns about deprecated versions of kinds. A version that Kubernetes does not
// serve is an error when the Kubernetes version is known.
func (r *run) life(o manifest.Object, at Finding) {
	if r.Options.Kinds == nil {
		return
	}
	life, known := r.Options.Kinds.Life(o.GVK())
	if !known {
		return
	}
	at.Severity, at.Object = Warning, o.String()
	unserved := Warning
	if r.Options.ExactVersion && !r.incomplete {
		unserved = Error
	}
	have, what := r.version(), o.GVK().GroupVersion().String()+" "+o.Kind
	replace := ""
	if life.Replacement != "" {
		replace = "; use " + life.Replacement
	}
	switch {
	case life.Gone:
		at.Message = fmt.Sprintf("Kubernetes %s does not have %s", r.Options.Kinds.Release(), what)
		if have.String() != r.Options.Kinds.Release() {
			at.Message += fmt.Sprintf("; whether %s has it is not known here", have)
		}
	case !life.Removed.isZero() && !life.Removed.after(have):
		at.Severity = unserved
		at.Message = fmt.Sprintf("Kubernetes %s does not serve %s: it was removed in %s%s", have, what, life.Removed, replace)
	case !life.Introduced.isZero() && life.Introduced.after(have):
		at.Severity = unserved
		at.Message = fmt.Sprintf("Kubernetes %s does not serve %s: it was added in %s", have, what, life.Introduced)
	case !life.Deprecated.isZero() && !life.Deprecated.after(have):
		at.Message = fmt.Sprintf("%s has been deprecated since Kubernetes %s%s%s", what, life.Deprecated, goes(life.Removed), replace)
	default:
		return
	}
	r.add(at)
}

// goes says when a deprecated version is removed, if that is known.
func goes(removed Minor) string {
	if removed.isZero() {
		return ""
	}
	return " and is removed in " + removed.String()
}

// fields checks an object against the fields of its kind: the API server refuses what
// is mistyped and drops what is unknown.
func (r *run) fields(o manifest.Object, at Finding, text string) {
	if r.Options.Kinds == nil {
		return
	}
	at.Object = o.String()
	found := r.Options.Kinds.Misfits(o)
	if found.Mistyped != "" {
		r.judge(at, found.Mistyped)
	}
	for _, path := range found.Unknown {
		f := at
		f.Severity, f.Message = Warning, "field "+path+" is unknown, and the API server drops it"
		key := path[strings.LastIndexByte(path, '.')+1:]
		if f.RenderedLine > 0 {
			f.RenderedLine = shift(f.RenderedLine, keyLine(text, key))
		} else {
			f.Line = shift(f.Line, keyLine(text, key))
		}
		r.add(f)
	}
}
