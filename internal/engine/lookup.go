package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/templating"
)

// RenderError is an error in rendering a release: its message may quote what templates see.
type RenderError struct {
	Err error
	// Secrets are the values of the Secrets that templates have read from the cluster, or those in
	// what a post-renderer was given.
	Secrets [][]byte
	// Values are the chart's defaults and the values of the user and of earlier revisions (see
	// Source.AllValues), or the objects that a post-renderer was given. They are nil after the rendering.
	Values []any
}

func (e *RenderError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the Secrets.
func (e *RenderError) Unwrap() error { return e.Err }

// Quoted returns what the text of an error may quote: the tables of values and the Secrets of each
// *RenderError in it.
func Quoted(err error) (values []any, secrets [][]byte) {
	for quoting, ok := errors.AsType[*RenderError](err); ok; quoting, ok = errors.AsType[*RenderError](quoting.Err) {
		values, secrets = append(values, quoting.Values...), append(secrets, quoting.Secrets...)
	}
	return values, secrets
}

// lookups answers lookups from templates and records what they read. A nil *lookups finds nothing.
type lookups struct {
	// find is nil if there is nothing to ask.
	find templating.LookupFunc
	mu   sync.Mutex
	// secrets are the values of the Secrets that were found.
	secrets [][]byte
	// missed says that a lookup found nothing.
	missed bool
}

func (e *Engine) lookups(ctx context.Context) *lookups { return &lookups{find: e.Lookup(ctx)} }

// Lookup returns a function that answers lookups from templates with objects of the cluster; for a
// missing object it returns an empty map, and for a kind that its group version lacks a
// *templating.UnknownKindError.
func (e *Engine) Lookup(ctx context.Context) templating.LookupFunc {
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		found, err := e.Cluster.Lookup(ctx, apiVersion, kind, namespace, name)
		if apierrors.IsNotFound(err) {
			return map[string]any{}, nil
		}
		if err != nil {
			return nil, err
		}
		return found.Object, nil
	}
}

// answer returns the function that templates call. added are new kinds, in their versions, that the chart's
// own CRDs bring: there are no objects of these yet. Of kinds that get new versions because CRDs are updated,
// which updated has, too, there may be some.
func (l *lookups) answer(added, updated []string) templating.LookupFunc {
	if l == nil {
		return nil
	}
	return func(apiVersion, kind, namespace, name string) (found map[string]any, err error) {
		if l.find != nil {
			found, err = l.find(apiVersion, kind, namespace, name)
		}
		var unknown *templating.UnknownKindError
		noKind := errors.As(err, &unknown)
		switch version := apiVersion + "/" + kind; {
		case !noKind && !meta.IsNoMatchError(err):
			err = outside(err)
		case slices.Contains(added, version):
			found, err = map[string]any{}, nil
			if name == "" {
				found = listOf(apiVersion, kind, []any{})
			}
		case slices.Contains(updated, version):
			return nil, fmt.Errorf("%s can't be looked up in %s, which the cluster does not serve until the CRD is updated", kind, apiVersion)
		}
		if items, isList := found["items"].([]any); noKind || err == nil && (len(found) == 0 || isList && len(items) == 0) {
			l.miss()
		}
		if err == nil && schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind() == kinds.Secret {
			l.note(found)
		}
		return found, err
	}
}

// note records the values of a Secret or of a list of Secrets. It copies them, since templates may
// change what they are given.
func (l *lookups) note(found map[string]any) {
	items, isList := found["items"].([]any)
	if !isList {
		items = []any{found}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, item := range items {
		if secret, ok := item.(map[string]any); ok {
			l.secrets = append(l.secrets, secretValues(secret)...)
			l.secrets = append(l.secrets, secretValues(lastApplied(secret))...)
		}
	}
}

// secretValues returns the values of a Secret. What is not base64 in its data is taken as it is.
func secretValues(secret map[string]any) (out [][]byte) {
	for _, field := range []string{"data", "stringData"} {
		table, _ := secret[field].(map[string]any)
		for _, v := range table {
			text, _ := jsontree.ScalarText(v)
			value, err := base64.StdEncoding.DecodeString(text)
			if field == "stringData" || err != nil {
				value = []byte(text)
			}
			if len(value) > 0 {
				out = append(out, value)
			}
		}
	}
	return out
}

// lastApplied returns the object in kubectl's last-applied annotation, which may hold former
// values, or nil if there is none.
func lastApplied(object map[string]any) map[string]any {
	text, _, _ := unstructured.NestedString(object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	var out map[string]any
	if json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}

func (l *lookups) miss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed = true
}

// read returns the values of the Secrets that templates have read.
func (l *lookups) read() [][]byte {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.secrets
}

// quoted wraps err in a *RenderError if Secrets were read, since it may quote them.
func (l *lookups) quoted(err error) error {
	if secrets := l.read(); err != nil && len(secrets) > 0 {
		return &RenderError{Err: err, Secrets: secrets}
	}
	return err
}
