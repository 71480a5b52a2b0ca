package fakecloud

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/testcluster/fakenodes"
)

// balance gives each Service of type LoadBalancer an address, unless it asks to
// hang or has a loadBalancerClass, which somebody else serves.
func (c *cloud) balance(ctx context.Context) error {
	services, err := c.services.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list services: %w", err)
	}
	var errs []error
	for _, service := range services {
		waits := service.Spec.Type == corev1.ServiceTypeLoadBalancer &&
			service.Spec.LoadBalancerClass == nil &&
			len(service.Status.LoadBalancer.Ingress) == 0 &&
			service.DeletionTimestamp == nil
		if waits && fakenodes.Behaviour(service.Annotations, service.Labels) != "hang" {
			errs = append(errs, c.giveAddress(ctx, service.DeepCopy()))
		}
	}
	return errors.Join(errs...)
}

func (c *cloud) giveAddress(ctx context.Context, service *corev1.Service) error {
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address(service)}}
	_, err := c.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, service, metav1.UpdateOptions{})
	if ignoreRace(err) != nil {
		return fmt.Errorf("give service %s/%s an address: %w", service.Namespace, service.Name, err)
	}
	return nil
}

// address returns an address in TEST-NET-2, chosen by the Service's name. Two Services
// may share one, since nothing is there anyway.
func address(service *corev1.Service) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(service.Namespace + "/" + service.Name))
	return fmt.Sprintf("198.51.100.%d", 1+sum.Sum32()%254)
}
