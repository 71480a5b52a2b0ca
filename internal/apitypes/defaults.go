package apitypes

import (
	"reflect"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Defaulted reports whether v is the API server's default for the field key of an
// item of an atomic list. Only fields of built-in kinds have known defaults; they
// are those of https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/apis, in
// GROUP/VERSION/defaults.go.
func Defaulted(key string, v any, n *Node) bool {
	if n == nil || n.Child(key) == nil {
		return false
	}
	switch v := jsontree.Number(v).(type) {
	case string:
		return defaultString(key, v)
	case int64:
		switch key {
		case "defaultMode", "mode":
			return v == 420
		case "timeoutSeconds":
			return v == 10
		case "expirationSeconds":
			return v == 3600
		case "port":
			return v == 443
		}
	case map[string]any:
		return defaultObject(key, v, n.Child(key))
	}
	return false
}

func defaultString(key, v string) bool {
	switch key {
	case "protocol":
		return v == "TCP"
	case "volumeMode":
		return v == "Filesystem"
	case "apiVersion":
		return v == "v1"
	case "kind":
		return v == "PersistentVolumeClaim"
	case "scope":
		return v == "*"
	case "matchPolicy":
		return v == "Equivalent"
	case "reinvocationPolicy":
		return v == "Never"
	case "failurePolicy":
		return v == "Fail"
	case "operator":
		return v == "Equal"
	case "nodeAffinityPolicy":
		return v == "Honor"
	case "nodeTaintsPolicy":
		return v == "Ignore"
	}
	return false
}

// defaultObject reports whether v is a default that is added as a whole: a claim
// template's status, the empty selectors of a webhook.
func defaultObject(key string, v map[string]any, n *Node) bool {
	switch key {
	case "status":
		phase, _ := v["phase"].(string)
		return len(v) == 0 || len(v) == 1 && phase == "Pending"
	case "namespaceSelector", "objectSelector":
		return len(v) == 0
	case "metadata":
		_, stamped := v["creationTimestamp"]
		return len(v) == 0 || len(v) == 1 && stamped && v["creationTimestamp"] == nil
	}
	return len(v) == 0 && n.DropsZero()
}

// filled are the strings that the cluster sets where they are empty, in any kind, by their JSON names.
// Sources: Kubernetes 1.36.3.
var filled = func() map[string]bool {
	names := map[string]bool{}
	for _, list := range []string{
		// pkg/apis/GROUP/VERSION: defaults.go, zz_generated.defaults.go
		"type podManagementPolicy whenDeleted whenScaled concurrencyPolicy status phase pullPolicy imagePullPolicy",
		"terminationMessagePath terminationMessagePolicy sessionAffinity protocol externalTrafficPolicy dnsPolicy",
		"restartPolicy schedulerName persistentVolumeReclaimPolicy path scheme apiVersion apiGroup allocationMode",
		"deviceClassName operator iscsiInterface pool user keyring storageMode fsType",
		// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go
		"singular listKind",
		// plugin/pkg/admission: serviceaccount, priority
		"serviceAccountName serviceAccount priorityClassName",
		// pkg/registry/core/service/storage, and the controllers that bind pods, volumes and addresses
		"clusterIP nodeName volumeName podCIDR providerID",
		// k8s.io/apimachinery/pkg/apis/meta/v1/types.go, ObjectMeta; and references, which have the same
		"name namespace generateName uid resourceVersion selfLink kind fieldPath",
	} {
		for name := range strings.FieldsSeq(list) {
			names[name] = true
		}
	}
	return names
}()

// staysZero reports whether a 0 or an empty string of a struct's field stays what it is. The API server replaces
// a 0 in most numbers, or does not allow it; pointers tell whether something is given.
func staysZero(f reflect.StructField) bool {
	switch f.Name {
	case "MinReadySeconds", "InitialDelaySeconds":
		return true
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Type.Kind() == reflect.String && !filled[name]
}
