package releasestore

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// secrets keeps records in Secrets.
type secrets struct{ client corev1client.SecretsGetter }

func (secrets) kind() string { return "Secret" }

func (secrets) maxSize() int { return MaxSize }

func (b secrets) get(ctx context.Context, at location) (object, error) {
	s, err := b.client.Secrets(at.namespace).Get(ctx, at.name, metav1.GetOptions{})
	return fromSecret(s, err)
}

func (b secrets) list(ctx context.Context, namespace string, o listOptions) ([]object, string, error) {
	if o.metadataOnly {
		if found, next, err := listMetadata(ctx, b.client, "secrets", namespace, o.ListOptions); !errors.Is(err, errors.ErrUnsupported) {
			return found, next, err
		}
	}
	page, err := b.client.Secrets(namespace).List(ctx, o.ListOptions)
	if err != nil {
		return nil, "", err
	}
	objects := make([]object, 0, len(page.Items))
	for i := range page.Items {
		o, _ := fromSecret(&page.Items[i], nil)
		objects = append(objects, o)
	}
	return objects, page.Continue, nil
}

func (b secrets) create(ctx context.Context, o object) (object, error) {
	s, err := b.client.Secrets(o.meta.Namespace).Create(ctx, toSecret(o), metav1.CreateOptions{})
	return fromSecret(s, err)
}

func (b secrets) update(ctx context.Context, o object) (object, error) {
	s, err := b.client.Secrets(o.meta.Namespace).Update(ctx, toSecret(o), metav1.UpdateOptions{})
	return fromSecret(s, err)
}

func (b secrets) delete(ctx context.Context, at location, o metav1.DeleteOptions) error {
	return b.client.Secrets(at.namespace).Delete(ctx, at.name, o)
}

func fromSecret(s *corev1.Secret, err error) (object, error) {
	if err != nil {
		return object{}, err
	}
	return object{meta: s.ObjectMeta, record: string(s.Data[dataKey])}, nil
}

func toSecret(o object) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: o.meta,
		Type:       recordType,
		Data:       map[string][]byte{dataKey: []byte(o.record)},
	}
}
