package releasestore

import (
	"cmp"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is one stored record: base64 text under the key "release", and the metadata of the object
// that holds it.
type object struct {
	meta   metav1.ObjectMeta
	record string
	// unread is why the record was left where it is, or nil.
	unread error
}

func (o object) location() location { return location{o.meta.Namespace, o.meta.Name} }

// location names a stored object within its kind.
type location struct{ namespace, name string }

func (l location) compare(other location) int {
	return cmp.Or(cmp.Compare(l.namespace, other.namespace), cmp.Compare(l.name, other.name))
}

// backend reads and writes objects that hold records. Errors are those of apimachinery's
// api/errors. update fails with a conflict unless the resource version in the metadata is current.
// list returns the continue token of the next page, "" after the last one; namespace "" means all.
// With listOptions.metadataOnly, objects come without their records.
type backend interface {
	kind() string
	// maxSize is the most bytes that a record may have; 0 means no limit.
	maxSize() int
	get(ctx context.Context, at location) (object, error)
	list(ctx context.Context, namespace string, o listOptions) ([]object, string, error)
	create(ctx context.Context, o object) (object, error)
	update(ctx context.Context, o object) (object, error)
	delete(ctx context.Context, at location, o metav1.DeleteOptions) error
}

// listOptions are the API server's, and whether metadata is enough: most releases have ten
// revisions, and only the newest of them is read.
type listOptions struct {
	metav1.ListOptions
	metadataOnly bool
}

// dataKey is the key that holds the record. recordType is the type of Secrets with records (Helm
// 4.3.1, pkg/storage/driver/secrets.go, newSecretsObject).
const (
	dataKey    = "release"
	recordType = "helm.sh/release.v1"
)
