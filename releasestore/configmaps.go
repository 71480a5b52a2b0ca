package releasestore

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// configMaps keeps records in ConfigMaps.
type configMaps struct{ client corev1client.ConfigMapsGetter }

func (configMaps) kind() string { return "ConfigMap" }

func (configMaps) maxSize() int { return MaxSize }

func (b configMaps) get(ctx context.Context, at location) (object, error) {
	c, err := b.client.ConfigMaps(at.namespace).Get(ctx, at.name, metav1.GetOptions{})
	return fromConfigMap(c, err)
}

func (b configMaps) list(ctx context.Context, namespace string, o listOptions) ([]object, string, error) {
	if o.metadataOnly {
		if found, next, err := listMetadata(ctx, b.client, "configmaps", namespace, o.ListOptions); !errors.Is(err, errors.ErrUnsupported) {
			return found, next, err
		}
	}
	page, err := b.client.ConfigMaps(namespace).List(ctx, o.ListOptions)
	if err != nil {
		return nil, "", err
	}
	objects := make([]object, 0, len(page.Items))
	for i := range page.Items {
		o, _ := fromConfigMap(&page.Items[i], nil)
		objects = append(objects, o)
	}
	return objects, page.Continue, nil
}

func (b configMaps) create(ctx context.Context, o object) (object, error) {
	c, err := b.client.ConfigMaps(o.meta.Namespace).Create(ctx, toConfigMap(o), metav1.CreateOptions{})
	return fromConfigMap(c, err)
}

func (b configMaps) update(ctx context.Context, o object) (object, error) {
	c, err := b.client.ConfigMaps(o.meta.Namespace).Update(ctx, toConfigMap(o), metav1.UpdateOptions{})
	return fromConfigMap(c, err)
}

func (b configMaps) delete(ctx context.Context, at location, o metav1.DeleteOptions) error {
	return b.client.ConfigMaps(at.namespace).Delete(ctx, at.name, o)
}

func fromConfigMap(c *corev1.ConfigMap, err error) (object, error) {
	if err != nil {
		return object{}, err
	}
	return object{meta: c.ObjectMeta, record: c.Data[dataKey]}, nil
}

func toConfigMap(o object) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: o.meta, Data: map[string]string{dataKey: o.record}}
}
