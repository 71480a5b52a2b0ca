//go:build cluster

package scale

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// floorName is the name under which this binary is the floor: a client that sends the
// requests in a file, inFlight at a time, and does nothing with the answers.
const (
	floorName = "floor"
	inFlight  = 32
)

// request is one request in the floor's file, a line of JSON. The requests of a phase are sent
// when the previous phase has ended.
type request struct {
	Phase                     int
	Method, Path, ContentType string
	Body                      json.RawMessage
}

// runFloor sends the requests in the file that its argument names.
func runFloor() {
	if err := sendAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sendAll(name string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var (
		group sync.WaitGroup
		slots = make(chan struct{}, inFlight)
		errs  = make(chan error, 1)
		phase int
	)
	lines := json.NewDecoder(bufio.NewReader(file))
	for {
		var r request
		if err := lines.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if r.Phase != phase {
			group.Wait()
			phase = r.Phase
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := send(client, config.Host, r); err != nil {
				select {
				case errs <- err:
				default:
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

var continueToken = regexp.MustCompile(`"continue":"([^"]+)"`)

// send sends one request; a LIST is sent page by page.
func send(client *http.Client, host string, r request) error {
	for query := ""; ; {
		sent, err := http.NewRequest(r.Method, host+r.Path+query, strings.NewReader(string(r.Body)))
		if err != nil {
			return err
		}
		sent.Header.Set("Content-Type", r.ContentType)
		sent.Header.Set("Accept", "application/json")
		answer, err := client.Do(sent)
		if err != nil {
			return err
		}
		beginning := make([]byte, 2048)
		n, _ := io.ReadFull(answer.Body, beginning)
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("%s %s: %s: %w\n%s", r.Method, r.Path, answer.Status, err, beginning[:n])
		}
		token := continueToken.FindSubmatch(beginning[:n])
		if r.Method != http.MethodGet || token == nil {
			return nil
		}
		query = "&continue=" + string(token[1])
	}
}

// floor makes the floor's requests for a release of the objects that a chart renders.
type floor struct {
	program, namespace string
}

func newFloor(t testing.TB) floor {
	t.Helper()
	return floor{asProgram(t, floorName), cluster.Namespace(t)}
}

// run sends the requests of one of the operations.
func (f floor) run(t testing.TB, requests []request) clustertest.Usage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "requests")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewEncoder(file)
	for _, r := range requests {
		if err := lines.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	awaitQuiet(t)
	return cluster.Measure(t, f.program, path)
}

// lists returns the LISTs of all kinds.
func (f floor) lists() []request {
	var out []request
	for _, k := range generatedKinds {
		out = append(out, request{Phase: 1, Method: http.MethodGet, Path: collection(k.apiVersion, k.resource, f.namespace) + "?limit=1000", Body: json.RawMessage("null")})
	}
	return out
}

// applies returns a dry run and an apply of each object.
func (f floor) applies(objects []*unstructured.Unstructured) []request {
	out := make([]request, 0, 2*len(objects))
	for phase, dryRun := range []string{"&dryRun=All", ""} {
		for _, o := range objects {
			o := o.DeepCopy()
			o.SetNamespace(f.namespace)
			annotations, labels := o.GetAnnotations(), o.GetLabels()
			annotations[manifest.ReleaseNameAnnotation], annotations["meta.helm.sh/release-namespace"] = "lots", f.namespace
			labels["app.kubernetes.io/managed-by"] = "Helm"
			o.SetAnnotations(annotations)
			o.SetLabels(labels)
			body, _ := o.MarshalJSON()
			out = append(out, request{
				Phase: 2 + phase, Method: http.MethodPatch, ContentType: "application/apply-patch+yaml", Body: body,
				Path: f.object(o) + "?fieldManager=floor&fieldValidation=Warn&force=false" + dryRun,
			})
		}
	}
	return out
}

// deletes returns a DELETE of each object, in the order in which an uninstall sends them: Deployments
// come before most others, and the control plane is busy with their ReplicaSets while the rest goes.
func (f floor) deletes(objects []*unstructured.Unstructured) []request {
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return wave(a) - wave(b)
	})
	out := make([]request, 0, len(objects))
	for _, o := range objects {
		out = append(out, request{Phase: 2, Method: http.MethodDelete, ContentType: "application/json", Path: f.object(o), Body: json.RawMessage(`{"propagationPolicy":"Background"}`)})
	}
	return out
}

// wave is the number of the wave in which an uninstall deletes the object.
func wave(o *unstructured.Unstructured) int {
	return kinds.Of(o.GroupVersionKind().GroupKind()).Tiers.Uninstall()
}

func (f floor) object(o *unstructured.Unstructured) string {
	for _, k := range generatedKinds {
		if k.kind == o.GetKind() {
			return collection(k.apiVersion, k.resource, f.namespace) + "/" + o.GetName()
		}
	}
	return ""
}

// rendered returns the objects of a chart as our program renders them.
func rendered(t testing.TB, program string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, doc := range manifest.Split(cluster.Measure(t, program, append([]string{"template", "lots"}, args...)...).Stdout) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}
