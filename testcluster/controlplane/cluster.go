// Package controlplane starts and stops the processes of a Kubernetes cluster:
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok, all of
// them subcommands of this program, on free ports, with keys, logs and data in a
// folder of their own.
//
// It does not create objects in the cluster: fakenodes and fakecloud create nodes,
// storage classes and what else a cluster needs.
package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options holds what differs between clusters.
type Options struct {
	// Stages is the configuration of kwok: how nodes and pods behave.
	Stages []byte
	// AuditLog is the file to which the API server writes one JSON line for each
	// request; empty means none.
	AuditLog string
	// KeepData leaves the folder in place when the cluster is stopped.
	KeepData bool
	// Progress is called with a few words about what starts now. It must not be nil.
	Progress func(string)
}

// Cluster is a running control plane.
type Cluster struct {
	options   Options
	layout    layout
	ports     *ports
	spawner   *spawner
	processes []*process
	failed    chan error
}

// Start starts a control plane and returns when its API server is ready and its
// other parts have been started. After an error nothing is left running.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if err := removeOrphans(); err != nil {
		return nil, err
	}
	l, err := newLayout()
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, layout: l, ports: &ports{}, spawner: newSpawner(), failed: make(chan error, 1)}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	numbers, err := c.ports.takeMany(3)
	if err != nil {
		return err
	}
	client, peer, secure := numbers[0], numbers[1], numbers[2]
	if err := writeTrust(c.layout, fmt.Sprintf("https://127.0.0.1:%d", secure)); err != nil {
		return err
	}
	if err := writeConfiguration(c.layout, c.options.Stages); err != nil {
		return err
	}
	c.options.Progress("etcd and kube-apiserver start in " + c.layout.dir)
	if err := c.spawn("etcd", etcdArguments(c.layout, client, peer)); err != nil {
		return err
	}
	if err := c.spawn("kube-apiserver", apiserverArguments(c.layout, client, secure, c.options.AuditLog)); err != nil {
		return err
	}
	if err := c.waitForAPIServer(ctx); err != nil {
		return err
	}
	c.options.Progress("kube-controller-manager, kube-scheduler and kwok start")
	if err := c.spawn("kube-controller-manager", controllerManagerArguments(c.layout)); err != nil {
		return err
	}
	if err := c.spawn("kube-scheduler", schedulerArguments(c.layout)); err != nil {
		return err
	}
	return c.spawn("kwok", kwokArguments(c.layout))
}

// spawn starts one part and watches it: a cluster that has lost a part is useless.
func (c *Cluster) spawn(name string, args []string) error {
	p, err := c.spawner.start(name, c.layout.file(name+".log"), args...)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	go func() {
		<-p.done
		select {
		case c.failed <- fmt.Errorf("%s ended; its last words:\n%s", name, p.lastWords()):
		default:
		}
	}()
	return nil
}

// waitForAPIServer returns when the API server reports that it is ready, which
// includes the roles and priority classes that it creates itself.
func (c *Cluster) waitForAPIServer(ctx context.Context) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	for {
		status := 0
		client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
		if status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for kube-apiserver: %w", ctx.Err())
		case err := <-c.failed:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Failed returns a channel that delivers an error when a part of the cluster ends on
// its own.
func (c *Cluster) Failed() <-chan error { return c.failed }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.layout.file("admin.kubeconfig") }

// ClientConfig returns the client configuration of the cluster's own parts.
func (c *Cluster) ClientConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.layout.file("components.kubeconfig"))
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the cluster's parts: %w", err)
	}
	config.QPS, config.Burst = 500, 1000
	return config, nil
}

// Client returns a client with the permissions of the cluster's own parts.
func (c *Cluster) Client() (kubernetes.Interface, error) {
	config, err := c.ClientConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return client, nil
}

// KubeletCertificate returns a certificate for a server on the loopback address
// that the API server accepts as a kubelet.
func (c *Cluster) KubeletCertificate() (tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(c.layout.file("kubelet.crt"), c.layout.file("kubelet.key"))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("load the kubelet's certificate: %w", err)
	}
	return certificate, nil
}

// Stop kills all processes, the last one started first, frees the ports and
// removes the folder, unless Options.KeepData is set.
func (c *Cluster) Stop() error {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].stop()
	}
	return errors.Join(c.ports.release(), c.layout.remove(c.options.KeepData))
}
