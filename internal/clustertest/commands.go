package clustertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Result is the result of a command.
type Result struct {
	Stdout, Stderr string
	// ExitCode is -1 if a signal ended the command.
	ExitCode int
}

// lasting is how many namespaces are left to be removed with their cluster: deleting one takes
// seventy requests, but the contents of thousands would slow the cluster down.
const lasting = 400

// Namespace creates a namespace for this test alone and returns its name. The first ones in a
// cluster started by the suite stay until the cluster is stopped; others are deleted when their
// test ends, without waiting.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name := "test-" + strings.ToLower(rand.Text()[:10])
	namespaces, err := c.namespaces()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := namespaces.Create(context.Background(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if c.process == nil || c.namespaced.Add(1) > lasting {
		t.Cleanup(func() {
			if err := namespaces.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		})
	}
	return name
}

// namespaces returns a client for namespaces: kubectl takes a third of a second of
// CPU time for each of them, and the sweeps make thousands.
func (c *Cluster) namespaces() (typedcorev1.NamespaceInterface, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	client, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Namespaces(), nil
}

// Config returns a client configuration with all permissions and no rate limit.
func (c *Cluster) Config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := c.config()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (c *Cluster) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// Kubectl runs kubectl and returns its standard output; the test fails immediately
// if the command does.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	return c.must(t, c.Binaries.Kubectl, "", args)
}

// Apply creates or updates the objects of a YAML text in namespace.
func (c *Cluster) Apply(t testing.TB, namespace, objects string) {
	t.Helper()
	c.must(t, c.Binaries.Kubectl, objects, []string{"apply", "--namespace", namespace, "--filename", "-"})
}

// Allowed waits until a user may do something in a namespace: the API server follows a new role a moment later.
func (c *Cluster) Allowed(t testing.TB, namespace, user, verb, resource string) {
	t.Helper()
	for range 3000 {
		if c.Run(t, c.Binaries.Kubectl, "", "auth", "can-i", verb, resource, "--as", user, "--namespace", namespace).ExitCode == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s may never %s %s in %s", user, verb, resource, namespace)
}

// Helm3 runs Helm 3 in the same way as Kubectl runs kubectl.
func (c *Cluster) Helm3(t testing.TB, args ...string) string {
	t.Helper()
	return c.must(t, c.Binaries.Helm3, "", args)
}

// Helm4 runs Helm 4 in the same way as Kubectl runs kubectl.
func (c *Cluster) Helm4(t testing.TB, args ...string) string {
	t.Helper()
	return c.must(t, c.Binaries.Helm4, "", args)
}

func (c *Cluster) must(t testing.TB, program, stdin string, args []string) string {
	t.Helper()
	r := c.Run(t, program, stdin, args...)
	if r.ExitCode != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", program, strings.Join(args, " "), r.ExitCode, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// helmsGarbage is the GOGC for Helm in tests: with the default of 100, garbage collection takes a
// fifth of its CPU time. Benchmarks run Helm as users do.
const helmsGarbage = "GOGC=400"

// Run runs any program against the cluster and returns its result; the test fails
// only if the program can't be started.
func (c *Cluster) Run(t testing.TB, program, stdin string, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.Command(program, args...)
	command.Env = c.Environment()
	if _, benchmark := t.(*testing.B); !benchmark && (program == c.Binaries.Helm3 || program == c.Binaries.Helm4) {
		command.Env = append(command.Env, helmsGarbage)
	}
	command.Stdin = strings.NewReader(stdin)
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if err != nil && command.ProcessState == nil {
		t.Fatalf("run %s: %v", program, err)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), ExitCode: command.ProcessState.ExitCode()}
}

// Environment returns this process's environment with the cluster's kubeconfig and
// its binaries first in PATH, without other variables for kubectl and Helm. What these cache of
// the cluster's API is beside its kubeconfig: another cluster may have had the same address.
func (c *Cluster) Environment() []string {
	environment := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "HELM_") || strings.HasPrefix(variable, "KUBECTL_")
	})
	return append(environment,
		"KUBECONFIG="+c.Kubeconfig,
		"KUBECACHEDIR="+filepath.Join(filepath.Dir(c.Kubeconfig), "cache"),
		"PATH="+c.Binaries.Dir+string(os.PathListSeparator)+os.Getenv("PATH"),
	)
}
