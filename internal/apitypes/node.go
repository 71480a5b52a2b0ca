package apitypes

import (
	"encoding/json"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Form is how a value is written, as far as that matters for comparing it.
type Form int

const (
	FormAny Form = iota // custom resources, free JSON, numbers or strings
	FormStruct
	FormMap
	FormList
	FormScalar
	FormQuantity
	FormTime
	FormDuration
	FormBytes
)

// Node is what a kind's Go type says about one field. A nil Node stands for a field
// about which nothing is known.
type Node struct {
	form Form
	// keepsZero is true where the API server tells "given as zero" and "not
	// given" apart: pointers, map values, list items.
	keepsZero bool
	// zeroIsDefault is true for numbers that are 0, and strings that are empty, where they are not given.
	zeroIsDefault bool
	fields        map[string]*Node
	elem          *Node
	// Merges and MergeKey are the list's patchStrategy and patchMergeKey.
	Merges   bool
	MergeKey string
	// Replaces says that a map is set as a whole (patchStrategy replace).
	Replaces bool
	// union is set for structs in which some fields exclude each other.
	union *union
}

// Child returns the node of a map's or struct's field.
func (n *Node) Child(key string) *Node {
	if n != nil {
		f, known := n.fields[key]
		switch {
		case known:
			return f
		case n == amounts && isResource(key):
			return quantity
		case n.form != FormAny:
			return n.elem
		}
	}
	if key == "requests" || key == "limits" {
		return amounts
	}
	return nil
}

// Item returns the node of a list's items or a map's values.
func (n *Node) Item() *Node {
	if n == nil {
		return nil
	}
	return n.elem
}

// Keyed reports whether the list's items are matched by merge key.
func (n *Node) Keyed() bool { return n != nil && n.Merges && n.MergeKey != "" }

// DropsZero reports whether the API server takes "given as zero" for "not given".
func (n *Node) DropsZero() bool { return n != nil && !n.keepsZero }

// ZeroIsDefault reports whether a field that is not given is 0 or empty, so that another live value is not a
// default that replaced it.
func (n *Node) ZeroIsDefault() bool { return n != nil && n.zeroIsDefault }

// Is reports whether values of the field have the form f.
func (n *Node) Is(f Form) bool { return n != nil && n.form == f }

// amounts stands for requests and limits in custom resources, which may embed resource requirements: controllers
// write the quantities back in their canonical form. Fields of it that name no resource can mean anything.
var (
	amounts  = &Node{form: FormMap, keepsZero: true}
	quantity = &Node{form: FormQuantity, keepsZero: true}
)

// isResource reports whether the name is that of a resource of containers or claims.
func isResource(name string) bool {
	switch name {
	case "cpu", "memory", "storage", "ephemeral-storage":
		return true
	}
	return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) || strings.Contains(name, "/")
}

// nodeOf describes a Go type of k8s.io/api. The registry's lock is held.
func (r *registry) nodeOf(t reflect.Type) *Node {
	n := &Node{}
	if t.Kind() == reflect.Pointer {
		n.keepsZero = true
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		n.form = FormQuantity
	case t == reflect.TypeFor[metav1.Time](), t == reflect.TypeFor[metav1.MicroTime]():
		n.form = FormTime
	case t == reflect.TypeFor[metav1.Duration]():
		n.form = FormDuration
	case t == reflect.TypeFor[intstr.IntOrString](), isMarshaler(t):
		n.form = FormAny
	case t.Kind() == reflect.Struct:
		n.form, n.fields, n.union = FormStruct, r.fieldsOf(t), unionOf(t)
	case t.Kind() == reflect.Map:
		n.form, n.elem = FormMap, r.itemOf(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		n.form = FormBytes
	case t.Kind() == reflect.Slice:
		n.form, n.elem = FormList, r.itemOf(t.Elem())
	default:
		n.form = FormScalar
	}
	return n
}

func (r *registry) itemOf(t reflect.Type) *Node {
	n := r.nodeOf(t)
	n.keepsZero = true
	return n
}

func isMarshaler(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// fieldsOf returns a struct's fields by their JSON names. The map is registered
// before it is filled, because of types that contain themselves.
func (r *registry) fieldsOf(t reflect.Type) map[string]*Node {
	if known, ok := r.structs[t]; ok {
		return known
	}
	fields := map[string]*Node{}
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

func (r *registry) fieldOf(f reflect.StructField) *Node {
	n := r.nodeOf(f.Type)
	for strategy := range strings.SplitSeq(f.Tag.Get("patchStrategy"), ",") {
		n.Merges = n.Merges || strategy == "merge"
		n.Replaces = n.Replaces || strategy == "replace"
	}
	n.MergeKey = f.Tag.Get("patchMergeKey")
	n.zeroIsDefault = staysZero(f)
	return n
}
