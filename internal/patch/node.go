package patch

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// form is how a value is written, as far as its comparison needs it.
type form int

const (
	formAny form = iota // custom resources, free JSON, numbers or strings
	formStruct
	formMap
	formList
	formScalar
	formQuantity
	formTime
	formDuration
	formBytes
)

// node is what a kind's Go type says about one field. A nil node knows nothing.
type node struct {
	form form
	// keepsZero is true where the API server tells "given as zero" and "not
	// given" apart: pointers, map values, list items.
	keepsZero bool
	fields    map[string]*node
	elem      *node
	// merges and mergeKey are the list's patchStrategy and patchMergeKey.
	merges   bool
	mergeKey string
	// replaces says that a map is set as a whole (patchStrategy replace).
	replaces bool
}

// child is the node of a map's or struct's field.
func (n *node) child(key string) *node {
	if n != nil {
		if f, ok := n.fields[key]; ok {
			return f
		}
		if n.form != formAny {
			return n.elem
		}
	}
	// Custom resources that embed resource requirements: controllers write the
	// quantities back in their canonical form.
	if key == "requests" || key == "limits" {
		return quantities
	}
	return nil
}

func (n *node) item() *node {
	if n == nil {
		return nil
	}
	return n.elem
}

// keyed says that the list's items are matched by merge key.
func (n *node) keyed() bool { return n != nil && n.merges && n.mergeKey != "" }

func (n *node) dropsZero() bool { return n != nil && !n.keepsZero }

func (n *node) is(f form) bool { return n != nil && n.form == f }

var quantities = &node{
	form: formMap, keepsZero: true,
	elem: &node{form: formQuantity, keepsZero: true},
}

// nodeOf describes a Go type of k8s.io/api. The registry's lock is held.
func (r *registry) nodeOf(t reflect.Type) *node {
	n := &node{}
	if t.Kind() == reflect.Pointer {
		n.keepsZero = true
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		n.form = formQuantity
	case t == reflect.TypeFor[metav1.Time](), t == reflect.TypeFor[metav1.MicroTime]():
		n.form = formTime
	case t == reflect.TypeFor[metav1.Duration]():
		n.form = formDuration
	case t == reflect.TypeFor[intstr.IntOrString](), isMarshaler(t):
		n.form = formAny
	case t.Kind() == reflect.Struct:
		n.form, n.fields = formStruct, r.fieldsOf(t)
	case t.Kind() == reflect.Map:
		n.form, n.elem = formMap, r.itemOf(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		n.form = formBytes
	case t.Kind() == reflect.Slice:
		n.form, n.elem = formList, r.itemOf(t.Elem())
	default:
		n.form = formScalar
	}
	return n
}

func (r *registry) itemOf(t reflect.Type) *node {
	n := r.nodeOf(t)
	n.keepsZero = true
	return n
}

func isMarshaler(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// fieldsOf lists a struct's fields by their JSON names. The map is registered
// before it is filled, for types that hold themselves.
func (r *registry) fieldsOf(t reflect.Type) map[string]*node {
	if known, ok := r.structs[t]; ok {
		return known
	}
	fields := map[string]*node{}
	r.structs[t] = fields
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			for k, v := range r.fieldsOf(inner) {
				fields[k] = v
			}
		case name != "":
			fields[name] = r.fieldOf(f)
		}
	}
	return fields
}

func (r *registry) fieldOf(f reflect.StructField) *node {
	n := r.nodeOf(f.Type)
	for strategy := range strings.SplitSeq(f.Tag.Get("patchStrategy"), ",") {
		n.merges = n.merges || strategy == "merge"
		n.replaces = n.replaces || strategy == "replace"
	}
	n.mergeKey = f.Tag.Get("patchMergeKey")
	return n
}
