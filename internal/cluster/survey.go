package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	kindtable "github.com/kubectl-release/kubectl-release/internal/kinds"
)

// survey reads pods, ReplicaSets and events of objects. For many objects it lists whole namespaces,
// each list once; for a single one, only what belongs to it. It is not safe for concurrent use.
type survey struct {
	*Client
	many    bool
	pods    map[string]listed[corev1.Pod]
	holders map[string]listed[unstructured.Unstructured]
	events  map[string]listed[corev1.Event]
}

type listed[T any] struct {
	items []T
	err   error
}

func (c *Client) survey(many bool) *survey {
	return &survey{
		Client: c, many: many, pods: map[string]listed[corev1.Pod]{},
		holders: map[string]listed[unstructured.Unstructured]{}, events: map[string]listed[corev1.Event]{},
	}
}

// once returns a list that is read at most once; the key identifies it.
func once[T any](ctx context.Context, s *survey, memo map[string]listed[T], key string, read func(context.Context) ([]T, error)) ([]T, error) {
	known, ok := memo[key]
	if !ok {
		known.err = s.read(ctx, func(ctx context.Context) (err error) {
			known.items, err = read(ctx)
			return err
		})
		memo[key] = known
	}
	return known.items, known.err
}

// options returns the list options for a selector, and the key of the list. Lists of whole
// namespaces are served from the API server's cache
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
func (s *survey) options(namespace string, selector labels.Selector) (metav1.ListOptions, string) {
	if s.many {
		return metav1.ListOptions{ResourceVersion: "0"}, namespace
	}
	return metav1.ListOptions{LabelSelector: selector.String(), Limit: pageSize}, namespace + "\n" + selector.String()
}

// podsBy returns the pods that match a selector.
func (s *survey) podsBy(ctx context.Context, namespace string, selector labels.Selector) ([]corev1.Pod, error) {
	options, key := s.options(namespace, selector)
	all, err := once(ctx, s, s.pods, key, func(ctx context.Context) ([]corev1.Pod, error) {
		list, err := s.core.Pods(namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
	if !s.many {
		return all, err
	}
	var out []corev1.Pod
	for _, pod := range all {
		if selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out, err
}

// holdersBy returns the ReplicaSets or ControllerRevisions that match a selector.
func (s *survey) holdersBy(ctx context.Context, kind, namespace string, selector labels.Selector) ([]unstructured.Unstructured, error) {
	r, err := s.resource(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}, namespace)
	if err != nil {
		return nil, err
	}
	options, key := s.options(namespace, selector)
	all, err := once(ctx, s, s.holders, kind+"\n"+key, func(ctx context.Context) ([]unstructured.Unstructured, error) {
		list, err := r.List(ctx, options)
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
	if !s.many {
		return all, err
	}
	var out []unstructured.Unstructured
	for _, o := range all {
		if selector.Matches(labels.Set(o.GetLabels())) {
			out = append(out, o)
		}
	}
	return out, err
}

// warnings returns the warning events about objects of a kind.
func (s *survey) warnings(ctx context.Context, kind, namespace string) ([]corev1.Event, error) {
	return once(ctx, s, s.events, kind+"\n"+namespace, func(ctx context.Context) ([]corev1.Event, error) {
		list, err := s.core.Events(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: fields.Set{"involvedObject.kind": kind, "type": corev1.EventTypeWarning}.AsSelector().String(),
		})
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

// Reasons implements apply.Cluster.
func (c *Client) Reasons(ctx context.Context, asked []apply.Asked) [][]apply.Reason {
	ctx, cancel := context.WithTimeout(ctx, troublesTimeout)
	defer cancel()
	s := c.survey(len(asked) > 1)
	out := make([][]apply.Reason, len(asked))
	for i, a := range asked {
		out[i], _ = s.reasons(ctx, a)
	}
	return out
}

// Diagnose implements apply.Cluster.
func (c *Client) Diagnose(ctx context.Context, ref apply.Ref, since time.Time) apply.Diagnosis {
	ctx, cancel := context.WithTimeout(ctx, troublesTimeout)
	defer cancel()
	reasons, pods := c.survey(false).reasons(ctx, apply.Asked{Ref: ref, Since: since})
	found := apply.Diagnosis{Reasons: reasons}
	if gk := ref.GroupKind(); gk != kindtable.Job && gk != kindtable.Pod { // apply shows their logs
		found.Log = c.failingContainerLog(ctx, pods)
	}
	return found
}
