package fakecloud

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-release/kubectl-release/testcluster/fakenodes"
)

const (
	// provisioner is our name in storage classes and on volumes.
	provisioner = "testcluster.kubectl-release.dev/volumes"

	// Annotations by which Kubernetes and provisioners communicate.
	claimProvisioner = "volume.kubernetes.io/storage-provisioner"
	provisionedBy    = "pv.kubernetes.io/provisioned-by"
)

// createClasses creates the default class "standard", which binds immediately, and the
// class "on-first-use", which waits for a pod.
func createClasses(ctx context.Context, client kubernetes.Interface) error {
	classes := map[string]storagev1.VolumeBindingMode{
		"standard":     storagev1.VolumeBindingImmediate,
		"on-first-use": storagev1.VolumeBindingWaitForFirstConsumer,
	}
	reclaim, expand := corev1.PersistentVolumeReclaimDelete, true
	for name, mode := range classes {
		class := &storagev1.StorageClass{
			ObjectMeta:           metav1.ObjectMeta{Name: name},
			Provisioner:          provisioner,
			ReclaimPolicy:        &reclaim,
			VolumeBindingMode:    &mode,
			AllowVolumeExpansion: &expand,
		}
		if name == "standard" {
			class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		}
		if _, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create storage class %s: %w", name, err)
		}
	}
	return nil
}

// provision creates a volume for each claim that Kubernetes has assigned to us, which it
// does with WaitForFirstConsumer once the scheduler has chosen a node.
func (c *cloud) provision(ctx context.Context) error {
	claims, err := c.claims.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	var errs []error
	for _, claim := range claims {
		ours := claim.Annotations[claimProvisioner] == provisioner
		hangs := fakenodes.Behaviour(claim.Annotations, claim.Labels) == "hang"
		if ours && !hangs && claim.Spec.VolumeName == "" && claim.DeletionTimestamp == nil {
			errs = append(errs, c.createVolume(ctx, claim))
		}
	}
	return errors.Join(errs...)
}

func (c *cloud) createVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	name := "pvc-" + string(claim.UID)
	if _, err := c.volumes.Get(name); err == nil {
		return nil
	}
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := c.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return fmt.Errorf("find the storage class of claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	_, err = c.client.CoreV1().PersistentVolumes().Create(ctx, newVolume(name, claim, class), metav1.CreateOptions{})
	if ignoreRace(err) != nil {
		return fmt.Errorf("create volume %s: %w", name, err)
	}
	return nil
}

// newVolume returns a volume with a path that nobody will ever look at.
func newVolume(name string, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1",
				Kind:       "PersistentVolumeClaim",
				Namespace:  claim.Namespace,
				Name:       claim.Name,
				UID:        claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/testcluster/" + name},
			},
		},
	}
}

// giveBack deletes our volumes whose claim is gone.
func (c *cloud) giveBack(ctx context.Context) error {
	volumes, err := c.volumes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list volumes: %w", err)
	}
	var errs []error
	for _, volume := range volumes {
		ours := volume.Annotations[provisionedBy] == provisioner
		released := volume.Status.Phase == corev1.VolumeReleased &&
			volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
		if !ours || !released || volume.DeletionTimestamp != nil {
			continue
		}
		err := c.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{})
		if ignoreRace(err) != nil {
			errs = append(errs, fmt.Errorf("delete volume %s: %w", volume.Name, err))
		}
	}
	return errors.Join(errs...)
}
