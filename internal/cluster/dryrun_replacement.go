package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
)

// dryRunReplacement asks how the API server would create an object that exists already. The dry run
// uses a generated name, which is replaced in the result.
func (c *Client) dryRunReplacement(ctx context.Context, body *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	namesake := body.DeepCopy()
	namesake.SetName("")
	namesake.SetGenerateName(body.GetName() + "-")
	after, err := c.Create(ctx, namesake, o)
	if err != nil {
		return nil, err
	}
	generated := after.GetName()
	after.SetGenerateName("")
	renamed, _ := rename(after.Object, generated, body.GetName()).(map[string]any)
	return &unstructured.Unstructured{Object: renamed}, nil
}

// rename replaces a name in all strings that consist of nothing else: some kinds copy their name
// into labels.
func rename(v any, from, to string) any {
	switch v := v.(type) {
	case string:
		if v == from {
			return to
		}
	case map[string]any:
		for k, e := range v {
			v[k] = rename(e, from, to)
		}
	case []any:
		for i, e := range v {
			v[i] = rename(e, from, to)
		}
	}
	return v
}
