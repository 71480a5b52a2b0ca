package repository

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// remote returns the Kustomization because of which the HelmRelease is in another cluster, nil if
// there is none.
func (m *Managed) remote() *flux.Kustomization {
	for k, depth := m.owner, 0; k != nil && depth < maxDepth; k, depth = m.in.ownerOf(k), depth+1 {
		if k.Spec.KubeConfig != nil {
			return k
		}
	}
	return nil
}

// leavesCluster reports whether a HelmRelease deploys to another cluster than before: one of the two is its own.
func leavesCluster(was, is *flux.HelmRelease) bool {
	return (was.Cluster() == "") != (is.Cluster() == "")
}

// forget clears the releases in the status of a HelmRelease that leaves its cluster, since they are not in the new one.
func forget(next *flux.HelmRelease) {
	next.Status.History, next.Status.StorageNamespace = nil, ""
}

// renamesCluster reports whether a HelmRelease names another kubeconfig than before, which may be for the same cluster.
func renamesCluster(was, is *flux.HelmRelease) bool {
	return was.Cluster() != is.Cluster() && !leavesCluster(was, is)
}

// unsettled makes a verdict depend on whether the HelmRelease, which names another kubeconfig, stays in its cluster: v
// is the verdict if it does. What happens whatever the cluster has, such as an error, is left as it is.
func (m *Managed) unsettled(v *releaseset.Verdict) {
	does := "the release is upgraded"
	switch {
	case v.Options == nil || m.hr.Spec.Suspend:
		return
	case v.Leaves != nil:
		does = "the former release is uninstalled, and the new one installed"
	case v.Action == string(decision.Nothing):
		does = "nothing happens"
	case !v.Plans:
		return
	}
	v.Action, v.Then, v.Plans, v.Compares = string(decision.Unknown), nil, true, false
	v.Notes = slices.Insert(v.Notes, 0, "kubeConfig names another object; if that is the same cluster, "+does)
}

// reach finds the kubeconfig of the cluster that spec.kubeConfig names: what its Secret has
// in the cluster now. A change of that Secret is not followed: otherwise, whoever can write to
// the repository could make the plan contact any server. It is an error if helm-controller
// can't reach that cluster, since the Secret or its key is neither in the repository nor in the
// cluster. What may not be read is assumed to exist.
func (m *Managed) reach(lookup releaseset.Lookup) error {
	k, namespace := m.hr.Spec.KubeConfig, m.hr.Metadata.Namespace
	switch {
	case k == nil || lookup == nil:
		return nil
	case k.SecretRef == nil:
		m.unreached = ": configMapRef needs credentials that only the controller has"
		return nil
	}
	name := fmt.Sprintf("Secret %s/%s", namespace, k.SecretRef.Name)
	declared, how := m.in.data(kinds.Secret.Kind, namespace, k.SecretRef.Name)
	object, err := lookup("v1", kinds.Secret.Kind, namespace, k.SecretRef.Name)
	switch {
	case err != nil:
		m.unreached = fmt.Sprintf(": %s can't be read: %v", name, err)
		return nil
	case object == nil && how == elsewhere:
		return fmt.Errorf("spec.kubeConfig: there is no %s", name)
	case object == nil:
		m.unreached = fmt.Sprintf(": %s is not in the cluster yet", name)
		if how == there && keyOf(declared, *k.SecretRef) == "" {
			return fmt.Errorf("spec.kubeConfig: %s does not hold the key", name)
		}
		return nil
	}
	live := content(object)
	kubeconfig := keyOf(live, *k.SecretRef)
	switch changed := how == there && !encrypted(keyOf(declared, *k.SecretRef)) && !maps.Equal(declared, live); {
	case changed && keyOf(declared, *k.SecretRef) == "", !changed && kubeconfig == "":
		return fmt.Errorf("spec.kubeConfig: %s does not hold the key", name)
	case changed:
		m.unreached = fmt.Sprintf(": %s differs between the repository and the cluster", name)
	default:
		m.kubeconfig = []byte(kubeconfig)
	}
	return nil
}

// keyOf returns the content of the named key, or of one of the default keys; "" if there is none.
func keyOf(texts map[string]string, ref flux.KeyReference) string {
	if ref.Key != "" {
		return texts[ref.Key]
	}
	if text := texts["value"]; text != "" {
		return text
	}
	return texts["value.yaml"]
}
