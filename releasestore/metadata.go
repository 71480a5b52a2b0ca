package releasestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// acceptMetadata asks for the metadata of listed objects only. A server that does not support that
// sends whole objects as JSON, whose metadata is in the same place
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches).
const acceptMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// listMetadata lists the metadata of objects. It returns errors.ErrUnsupported for a client without
// a REST client, such as client-go's fakes.
func listMetadata(ctx context.Context, client any, resource, namespace string, o metav1.ListOptions) ([]object, string, error) {
	requests := restClient(client)
	if requests == nil {
		return nil, "", errors.ErrUnsupported
	}
	result := requests.Get().Resource(resource).NamespaceIfScoped(namespace, namespace != "").
		VersionedParams(&o, scheme.ParameterCodec).SetHeader("Accept", acceptMetadata).Do(ctx)
	if err := result.Error(); err != nil { // Raw's error lacks the server's message
		return nil, "", err
	}
	data, err := result.Raw()
	if err != nil {
		return nil, "", err
	}
	list, err := decodeMetadata(data)
	if err != nil {
		return nil, "", fmt.Errorf("read a list of %s: %w", resource, err)
	}
	objects := make([]object, 0, len(list.Items))
	for i := range list.Items {
		m := &list.Items[i].ObjectMeta
		objects = append(objects, object{meta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Labels: m.Labels}})
	}
	return objects, list.Continue, nil
}

// restClient returns the REST client behind a typed client, nil if there is none.
func restClient(client any) rest.Interface {
	c, ok := client.(interface{ RESTClient() rest.Interface })
	if !ok {
		return nil
	}
	requests := c.RESTClient()
	if none, ok := requests.(*rest.RESTClient); ok && none == nil {
		return nil // the clientset of kubernetes/fake
	}
	return requests
}

// protobufMagic is the prefix of all objects that API servers encode as protobuf
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

func decodeMetadata(data []byte) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	if !bytes.HasPrefix(data, protobufMagic) {
		return list, json.Unmarshal(data, list)
	}
	decoder, err := metadataDecoder()
	if err != nil {
		return nil, err
	}
	return list, runtime.DecodeInto(decoder, data, list)
}

var metadataDecoder = sync.OnceValues(func() (runtime.Decoder, error) {
	known := runtime.NewScheme()
	err := metav1.AddMetaToScheme(known)
	return serializer.NewCodecFactory(known).UniversalDeserializer(), err
})
