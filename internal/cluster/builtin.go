package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"

	"github.com/kubectl-release/kubectl-release/internal/lint"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// builtinRelease is the Kubernetes version of client-go v0.37.
const builtinRelease = "1.37"

// Builtin knows Kubernetes' own kinds from client-go's Go types. It sends no requests and is used
// where there is no cluster. It implements lint.Kinds.
type Builtin struct {
	scheme  *runtime.Scheme
	decoder runtime.Decoder
}

// NewBuiltin returns a Builtin. It fails when two types have the same name, which would be a bug in
// the modules that the program is built with.
func NewBuiltin() (*Builtin, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme,
		apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme,
		apiregistrationv1.AddToScheme, apiregistrationv1beta1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("prepare the built-in kinds: %w", err)
		}
	}
	strict := serializer.SerializerOptions{Strict: true}
	return &Builtin{scheme: s, decoder: serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, s, s, strict)}, nil
}

// Release returns the Kubernetes version of the types.
func (b *Builtin) Release() string { return builtinRelease }

// Misfits decodes the object into its Go type as the API server does with strict field validation
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation).
func (b *Builtin) Misfits(o manifest.Object) lint.Misfits {
	gvk := o.GVK()
	if !b.scheme.Recognizes(gvk) {
		return lint.Misfits{}
	}
	data, err := o.Doc.MarshalJSON()
	if err != nil {
		return lint.Misfits{Mistyped: err.Error()}
	}
	_, _, err = b.decoder.Decode(data, &gvk, nil)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case err == nil:
		return lint.Misfits{}
	case !isStrict:
		return lint.Misfits{Mistyped: mistyped(err)}
	}
	var unknown []string
	for _, e := range strict.Errors() {
		unknown = append(unknown, strings.Trim(strings.TrimPrefix(e.Error(), "unknown field "), `"`))
	}
	slices.Sort(unknown)
	return lint.Misfits{Unknown: unknown}
}

// mistyped says which field has which type, in YAML's terms.
func mistyped(err error) string {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) || e.Field == "" {
		return "a field has a value of the wrong type: " + err.Error()
	}
	return fmt.Sprintf("field %s must be %s, not %s", e.Field, yamlType(e.Type.String()), yamlType(e.Value))
}

func yamlType(name string) string {
	switch {
	case strings.HasPrefix(name, "number "):
		return "the number " + strings.TrimPrefix(name, "number ")
	case strings.HasPrefix(name, "[]"), name == "array":
		return "a list"
	case strings.HasPrefix(name, "map["), name == "object", strings.Contains(name, "."):
		return "a table"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"), strings.HasPrefix(name, "float"), name == "number":
		return "a number"
	case name == "string":
		return "text"
	case strings.HasPrefix(name, "bool"):
		return "true or false"
	default:
		return name
	}
}

// What client-go's types say about their versions, by generated methods
// (k8s.io/code-generator/cmd/prerelease-lifecycle-gen).
type (
	introduced interface {
		APILifecycleIntroduced() (major, minor int)
	}
	deprecated interface {
		APILifecycleDeprecated() (major, minor int)
	}
	removed interface {
		APILifecycleRemoved() (major, minor int)
	}
	replaced interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}
)

// Life returns the Kubernetes versions in which a version of a kind was introduced, deprecated and
// removed; false for a group that is not built in.
func (b *Builtin) Life(gvk schema.GroupVersionKind) (lint.Life, bool) {
	if !b.scheme.IsGroupRegistered(gvk.Group) {
		return lint.Life{}, false
	}
	object, err := b.scheme.New(gvk)
	if err != nil {
		return lint.Life{Gone: true}, true
	}
	var life lint.Life
	if o, ok := object.(introduced); ok {
		life.Introduced = minor(o.APILifecycleIntroduced())
	}
	if o, ok := object.(deprecated); ok {
		life.Deprecated = minor(o.APILifecycleDeprecated())
	}
	if o, ok := object.(removed); ok {
		life.Removed = minor(o.APILifecycleRemoved())
	}
	if o, ok := object.(replaced); ok {
		if by := o.APILifecycleReplacement(); by.Kind != "" {
			life.Replacement = by.GroupVersion().String() + " " + by.Kind
		}
	}
	return life, true
}

func minor(major, minor int) lint.Minor { return lint.Minor{Major: major, Minor: minor} }
