package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/crdschema"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Verdict is the API server's response to a dry run of creating an object with strict field
// validation. Refused and Unasked are empty when it would accept the object.
type Verdict struct {
	Object manifest.Object
	// Refused is the reason for a refusal.
	Refused string
	// Unasked is why the response is not known.
	Unasked string
	// SchemaErrors is what the CRD that comes with the chart surely does not allow, where the response is not
	// known because that CRD is not there yet.
	SchemaErrors string
}

// Validate makes dry runs for all objects, concurrently, and writes nothing. The verdicts are in the
// order of the objects. An object that exists already is not refused: the server checks that after
// everything else. Kinds that the cluster does not serve are refused, unless one of crds defines
// them. Only an unreachable cluster is an error.
func (c *Client) Validate(ctx context.Context, objects, crds []manifest.Object, namespace string) ([]Verdict, error) {
	gvks := make([]schema.GroupVersionKind, len(objects))
	for i, o := range objects {
		gvks[i] = o.GVK()
	}
	kinds, err := c.Kinds(ctx, gvks)
	if err != nil {
		return nil, err
	}
	objects = manifest.Qualify(objects, namespace, func(gvk schema.GroupVersionKind) manifest.Scope { return kinds[gvk.GroupKind()].Scope })
	coming := manifest.DefinedKinds(crds, objects)
	out := make([]Verdict, len(objects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(retry.Concurrency)
	for i, o := range objects {
		out[i].Object = o
		group.Go(func() error {
			err := c.ask(ctx, o)
			if err != nil && unreachable(err) {
				return err
			}
			out[i].judge(err, coming[o.GroupKind()].CRD.Doc)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("validate objects: %w", err)
	}
	return out, nil
}

func (c *Client) ask(ctx context.Context, o manifest.Object) error {
	r, err := c.resource(ctx, o.GVK(), o.Namespace)
	if err != nil {
		return err
	}
	_, err = r.Create(ctx, o.Doc, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// judge sets the verdict by the error of the dry run. coming is the CRD among those to be installed that
// defines the kind, or nil.
func (v *Verdict) judge(err error, coming *unstructured.Unstructured) {
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
	case meta.IsNoMatchError(err) && coming != nil:
		v.Unasked = "its CustomResourceDefinition comes with the chart"
		v.SchemaErrors = crdschema.Refusal(coming, v.Object.Doc, false)
	case meta.IsNoMatchError(err):
		v.Refused = fmt.Sprintf("the cluster does not serve %s %s", v.Object.GVK().GroupVersion(), v.Object.Kind)
	case NamespaceMissing(err, v.Object.Namespace):
		v.Unasked = fmt.Sprintf("namespace %s does not exist", v.Object.Namespace)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot create resource"):
		// RBAC has refused, not admission.
		v.Unasked = message(err)
	default:
		p := answer(nil, err)
		v.Unasked = p.Estimated
		if p.Refused != nil {
			v.Refused = p.Refused.Message
		}
	}
}

// NamespaceMissing reports whether a request was refused because its namespace does not exist,
// which admission checks before the object is looked up (NamespaceLifecycle, in Kubernetes'
// staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go). A missing
// API or object does not count.
func NamespaceMissing(err error, namespace string) bool {
	var api apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &api) {
		return false
	}
	details := api.Status().Details
	return details != nil && details.Kind == "namespaces" && details.Group == "" && details.Name == namespace
}
