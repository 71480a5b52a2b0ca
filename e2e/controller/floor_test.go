//go:build cluster

package controller_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// floor returns how long the API server takes for requests like those that the controller sent for n
// HelmReleases, from a client that does nothing else: 32 HelmReleases at a time, the requests of each
// one after another. Where a lease was renewed, it is read.
func (r *rig) floor(sent []request, n int) time.Duration {
	r.Helper()
	b := r.bare(n)
	of := make([][]request, n)
	others := map[string]int{} // those that name none, such as creations, are shared out
	for _, q := range sent {
		kind := q.Verb + strings.SplitN(q.RequestURI, "?", 2)[0]
		i := others[kind] % n
		if m := nameOfMany.FindStringSubmatch(q.RequestURI); m != nil {
			_, _ = fmt.Sscan(m[1], &i)
		} else {
			others[kind]++
		}
		of[i] = append(of[i], q)
	}
	const hands = 32
	work, ctx := errgroup.WithContext(r.Context())
	work.SetLimit(hands)
	began := time.Now()
	for i := range of {
		work.Go(func() error {
			for _, q := range of[i] {
				if ctx.Err() != nil {
					return nil
				}
				if err := b.send(q, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		r.Fatal(err)
	}
	return time.Since(began)
}

// nameOfMany finds which HelmRelease a request is for: web-17, or one of its objects or records.
var nameOfMany = regexp.MustCompile(`\bweb-(\d+)`)

// bare is a client that sends what it is told to.
type bare struct {
	testing.TB
	namespace string
	host      string
	client    *http.Client
	// statuses and records are what the controller has written for each HelmRelease.
	statuses []any
	records  []*corev1.Secret
	n        atomic.Int64
}

func (r *rig) bare(n int) *bare {
	r.Helper()
	config := cluster.Config(r.TB)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		r.Fatal(err)
	}
	out := &bare{TB: r.TB, namespace: r.namespace, host: config.Host, client: client, statuses: make([]any, n), records: make([]*corev1.Secret, n)}
	config.QPS, config.Burst = 1000, 1000
	core := kubernetes.NewForConfigOrDie(config).CoreV1()
	for i := range n {
		name := fmt.Sprintf("web-%d", i)
		o, err := r.client.Resource(helmReleases).Namespace(r.namespace).Get(r.Context(), name, metav1.GetOptions{})
		if err != nil {
			r.Fatal(err)
		}
		out.statuses[i] = o.Object["status"]
		if out.records[i], err = core.Secrets(r.namespace).Get(r.Context(), "sh.helm.release.v1."+name+".v2", metav1.GetOptions{}); err != nil {
			r.Fatal(err)
		}
		out.records[i].ManagedFields, out.records[i].UID, out.records[i].ResourceVersion = nil, "", ""
	}
	return out
}

// send sends a request like one that was sent, for HelmRelease i. What it writes differs from what is
// stored.
func (b *bare) send(was request, i int) error {
	method := map[string]string{"get": "GET", "list": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}[was.Verb]
	uri, path := was.RequestURI, strings.SplitN(was.RequestURI, "?", 2)[0]
	lease := strings.Contains(path, "/leases")
	if was.Verb == "update" && lease { // a renewal names the version that it has seen
		method = "GET"
	}
	if lease && was.Verb != "create" {
		uri = path[:strings.Index(path, "/leases")] + fmt.Sprintf("/leases/floor-%d", i)
	}
	kind, body := b.body(was, path, i)
	q, err := http.NewRequestWithContext(b.Context(), method, b.host+uri, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", kind)
	answer, err := b.client.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	gone := answer.StatusCode == http.StatusNotFound && (was.Verb == "get" || was.Verb == "delete")
	if err == nil && answer.StatusCode > 299 && !gone {
		err = fmt.Errorf("%s %s: %s: %s", method, uri, answer.Status, text)
	}
	return err
}

// body returns the body of a request and its content type.
func (b *bare) body(was request, path string, i int) (kind string, body []byte) {
	k := b.n.Add(1)
	of := func(o any) []byte {
		data, err := json.Marshal(o)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	meta := func(name string) map[string]any { return map[string]any{"name": name, "namespace": b.namespace} }
	name := path[strings.LastIndex(path, "/")+1:]
	const plain, merge, apply = "application/json", "application/merge-patch+json", "application/apply-patch+yaml"
	switch {
	case was.Verb == "get", was.Verb == "list", was.Verb == "delete":
		return plain, nil
	case strings.HasSuffix(path, "/status"):
		return merge, of(map[string]any{"status": b.status(i, k)})
	case strings.Contains(path, "/helmreleases/"):
		return merge, of(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"floor": fmt.Sprint(k)}}})
	case strings.Contains(path, "/configmaps/"):
		return apply, of(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name), "data": map[string]any{"version": "1.2.0"}})
	case strings.Contains(path, "/secrets"):
		record := b.records[i].DeepCopy()
		if record.Name = name; was.Verb == "create" {
			record.Name = fmt.Sprintf("sh.helm.release.v1.web-%d.v3", i)
		}
		record.Labels["floor"] = fmt.Sprint(k)
		return plain, of(record)
	case strings.Contains(path, "/leases"):
		return plain, of(map[string]any{"metadata": meta(fmt.Sprintf("floor-%d", i)), "spec": map[string]any{"holderIdentity": "floor"}})
	case strings.Contains(path, "/events"):
		return plain, of(map[string]any{
			"metadata": map[string]any{"generateName": "floor-", "namespace": b.namespace}, "reason": "UpgradeSucceeded", "type": "Normal", "message": strings.Repeat("m", 100),
			"involvedObject": map[string]any{"kind": "HelmRelease", "namespace": b.namespace, "name": fmt.Sprintf("web-%d", i)},
		})
	}
	return plain, of(map[string]any{"spec": map[string]any{"namespace": b.namespace}}) // a review of rights
}

// status returns the status of a HelmRelease with something changed in it.
func (b *bare) status(i int, k int64) any {
	o := &unstructured.Unstructured{Object: map[string]any{"status": b.statuses[i]}}
	status := o.DeepCopy().Object["status"].(map[string]any)
	status["failures"] = k
	return status
}
