package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
)

// dryRunReplacement asks what would become of an object if it were not there yet. It is
// there, so one of another name is asked about, which the answer is rid of again.
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

// rename puts a name in the place of another wherever a text is just that: some
// kinds write their name into labels, too.
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
