package flux

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Decoded is what is kept of the object besides its typed fields.
type Decoded struct {
	// Object is the object as it was read, fields that we do not know included.
	Object map[string]any
	// Unknown are the paths of fields outside metadata and status that we do not
	// know, such as "spec.install.newOption": from a later API, or misspelt. What
	// they would do is not planned.
	Unknown []string
}

// DecodeHelmRelease reads a HelmRelease of API version v2. A field of the wrong
// type is an error that names its path. It does not call Validate.
func DecodeHelmRelease(object map[string]any) (*HelmRelease, error) {
	out := &HelmRelease{}
	var err error
	out.Decoded, err = decode(object, out)
	if err != nil {
		return nil, fmt.Errorf("read HelmRelease %s: %w", nameIn(object), err)
	}
	return out, nil
}

// DecodeKustomization reads a Kustomization of kustomize-controller.
func DecodeKustomization(object map[string]any) (*Kustomization, error) {
	out := &Kustomization{}
	var err error
	out.Decoded, err = decode(object, out)
	if err != nil {
		return nil, fmt.Errorf("read Kustomization %s: %w", nameIn(object), err)
	}
	return out, nil
}

// DecodeMetadata reads the metadata of an object of any kind.
func DecodeMetadata(object map[string]any) (Metadata, error) {
	out := struct {
		Metadata Metadata `json:"metadata"`
	}{}
	if _, err := decode(object, &out); err != nil {
		return Metadata{}, fmt.Errorf("read the metadata of %s: %w", nameIn(object), err)
	}
	return out.Metadata, nil
}

// DecodeSource reads an object of source.toolkit.fluxcd.io. A kind that is not
// one of its sources is an error.
func DecodeSource(object map[string]any) (*Source, error) {
	kind, _ := object["kind"].(string)
	fields, ok := sourceFields[kind]
	if !ok {
		return nil, fmt.Errorf("read source %s: kind %q is not one of Flux's sources", nameIn(object), kind)
	}
	out := &Source{}
	var err error
	out.Decoded, err = decode(object, out)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, nameIn(object), err)
	}
	out.Kind = kind
	spec, _ := object["spec"].(map[string]any)
	for name := range spec {
		path := "spec." + name
		if !slices.Contains(fields, name) && !slices.Contains(out.Unknown, path) {
			out.Unknown = append(out.Unknown, path)
		}
	}
	slices.Sort(out.Unknown)
	return out, nil
}

// decode fills into from object, and lists the fields that into has no place for.
func decode(object map[string]any, into any) (Decoded, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return Decoded{}, err
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	if err != nil {
		return Decoded{}, err
	}
	out := Decoded{Object: object}
	for _, e := range strict {
		var field kjson.FieldError
		if errors.As(e, &field) && planned(field.FieldPath()) {
			out.Unknown = append(out.Unknown, field.FieldPath())
		}
	}
	slices.Sort(out.Unknown)
	return out, nil
}

// planned reports whether an unknown field matters to a plan: status belongs to
// the controllers, and metadata has fields that the API server sets.
func planned(path string) bool {
	root, _, _ := strings.Cut(path, ".")
	return root != "status" && root != "metadata" && path != "apiVersion" && path != "kind"
}

func nameIn(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	return namespace + "/" + name
}

// sourceFields lists the fields of spec by kind, from the API's types.
var sourceFields = map[string][]string{
	KindHelmRepository: {
		"url", "secretRef", "certSecretRef", "passCredentials", "interval", "insecure", "timeout", "suspend",
		"accessFrom", "type", "provider",
	},
	KindOCIRepository: {
		"url", "ref", "layerSelector", "provider", "secretRef", "verify", "serviceAccountName", "certSecretRef",
		"proxySecretRef", "interval", "timeout", "ignore", "insecure", "suspend",
	},
	KindGitRepository: {
		"url", "secretRef", "provider", "serviceAccountName", "interval", "timeout", "ref", "verify",
		"proxySecretRef", "ignore", "suspend", "recurseSubmodules", "include", "sparseCheckout",
	},
	KindBucket: {
		"provider", "bucketName", "endpoint", "sts", "insecure", "region", "prefix", "secretRef",
		"serviceAccountName", "certSecretRef", "proxySecretRef", "interval", "timeout", "ignore", "suspend",
	},
	KindHelmChart: {
		"chart", "version", "sourceRef", "interval", "reconcileStrategy", "valuesFiles",
		"ignoreMissingValuesFiles", "suspend", "verify",
	},
	KindExternalArtifact: {"sourceRef"},
}
