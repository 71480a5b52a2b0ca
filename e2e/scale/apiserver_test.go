//go:build cluster

package scale

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// quickServer answers as an API server does, from memory and immediately: with it the program's
// own work can be measured even on a busy machine, and with numbers of objects that would take
// a control plane minutes. It validates nothing, and supports only what these tests ask for:
// discovery, paged LISTs, server-side apply by one manager, records.
type quickServer struct {
	*httptest.Server
	// first is the time of the first connection.
	first atomic.Pointer[time.Time]
	// seats is how many writes are accepted at a time, while all others are answered with 429;
	// 0 accepts all of them, without delay. A write that has a seat takes 20 ms.
	seats int64

	requests, refused, underWay, writing, most atomic.Int64

	mu     sync.Mutex
	uids   int
	stored map[string]map[string][]byte // JSON by collection and name
}

// startQuickServer starts a quickServer that ends with the test, and returns it with the
// environment in which programs use it.
func startQuickServer(t testing.TB) (*quickServer, []string) {
	t.Helper()
	q := &quickServer{stored: map[string]map[string][]byte{"/api/v1/namespaces": {}}}
	for _, name := range []string{"kube-system", "default"} {
		q.stored["/api/v1/namespaces"][name] = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"uid":"uid-%s"}}`, name, name)
	}
	q.Server = httptest.NewUnstartedServer(q)
	q.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if now := time.Now(); state == http.StateNew {
			q.first.CompareAndSwap(nil, &now)
		}
	}
	q.EnableHTTP2 = true
	q.StartTLS()
	t.Cleanup(q.Close)
	home := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: q.Certificate().Raw})
	config, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "quick",
		"clusters": []any{map[string]any{"name": "quick", "cluster": map[string]any{"server": q.URL, "certificate-authority-data": authority}}},
		"users":    []any{map[string]any{"name": "quick", "user": map[string]any{"token": "quick"}}},
		"contexts": []any{map[string]any{"name": "quick", "context": map[string]any{"cluster": "quick", "user": "quick", "namespace": "default"}}},
	})
	path := filepath.Join(home, "kubeconfig")
	if err == nil {
		err = os.WriteFile(path, config, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return q, append(os.Environ(), "HOME="+home, "KUBECONFIG="+path)
}

// ServeHTTP implements http.Handler.
func (q *quickServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.requests.Add(1)
	now := q.underWay.Add(1)
	defer q.underWay.Add(-1)
	for most := q.most.Load(); now > most && !q.most.CompareAndSwap(most, now); most = q.most.Load() {
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if q.seats > 0 && r.Method != http.MethodGet {
		defer q.writing.Add(-1)
		if q.writing.Add(1) > q.seats {
			q.refused.Add(1)
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	switch {
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		_ = json.NewEncoder(w).Encode(discovery(r.URL.Path == "/api"))
	case strings.HasSuffix(r.URL.Path, "/selfsubjectrulesreviews"):
		all := []any{"*"}
		answer(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "status": map[string]any{
			"resourceRules": []any{map[string]any{"verbs": all, "apiGroups": all, "resources": all}}, "nonResourceRules": []any{}, "incomplete": false,
		}})
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		answer(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": map[string]any{"allowed": true}})
	default:
		q.objects(w, r, body)
	}
}

func answer(w http.ResponseWriter, code int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(content)
}

// discovery returns the aggregated discovery of the kinds that the server has.
func discovery(core bool) apidiscovery.APIGroupDiscoveryList {
	list := apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}}
	groups := map[string]*apidiscovery.APIGroupDiscovery{}
	add := func(group, kind, resource string, scope apidiscovery.ResourceScope) {
		if (group == "") != core {
			return
		}
		if groups[group] == nil {
			groups[group] = &apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}, Versions: []apidiscovery.APIVersionDiscovery{{Version: "v1", Freshness: apidiscovery.DiscoveryFreshnessCurrent}}}
		}
		v := &groups[group].Versions[0]
		v.Resources = append(v.Resources, apidiscovery.APIResourceDiscovery{
			Resource: resource, Scope: scope, ResponseKind: &metav1.GroupVersionKind{Group: group, Version: "v1", Kind: kind},
			Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		})
	}
	add("", "Namespace", "namespaces", apidiscovery.ScopeCluster)
	add("", "Secret", "secrets", apidiscovery.ScopeNamespace)
	for _, k := range generatedKinds {
		group, _, found := strings.Cut(k.apiVersion, "/")
		if !found {
			group = ""
		}
		add(group, k.kind, k.resource, apidiscovery.ScopeNamespace)
	}
	for _, g := range groups {
		list.Items = append(list.Items, *g)
	}
	return list
}

// objects answers requests for objects and their collections.
func (q *quickServer) objects(w http.ResponseWriter, r *http.Request, body []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	ofCollection := len(segments)%2 == 1 // of a path that begins with /api/v1
	if segments[0] == "apis" {
		ofCollection = !ofCollection
	}
	if ofCollection && r.Method == http.MethodGet {
		q.list(w, r)
		return
	}
	collection, name := r.URL.Path, ""
	object := map[string]any{}
	if json.Unmarshal(body, &object) != nil { // typed clients send protobuf
		if typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil {
			object, _ = runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		}
	}
	if ofCollection {
		name, _, _ = unstructured.NestedString(object, "metadata", "name")
	} else {
		at := strings.LastIndexByte(collection, '/')
		collection, name = collection[:at], collection[at+1:]
	}
	live := q.stored[collection][name]
	version, _, _ := unstructured.NestedString(object, "metadata", "resourceVersion") // no object has version "1": see plan.NoVersion
	switch {
	case live == nil && (r.Method == http.MethodGet || r.Method == http.MethodDelete || r.Method == http.MethodPut):
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	case r.Method == http.MethodDelete:
		delete(q.stored[collection], name)
		answer(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Success"})
		return
	case r.Method != http.MethodGet:
		if live != nil && (r.Method == http.MethodPost || version == "1") {
			refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
			return
		}
		live = q.store(r, collection, name, object, live)
	}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		var whole struct {
			Metadata json.RawMessage `json:"metadata"`
		}
		_ = json.Unmarshal(live, &whole)
		live, _ = json.Marshal(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": whole.Metadata})
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(live)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	answer(w, code, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Message: string(reason), Code: int32(code)})
}

// store stores an object, unless the request is a dry run, and returns the result.
func (q *quickServer) store(r *http.Request, collection, name string, object map[string]any, before []byte) []byte {
	q.uids++
	metadata, _ := object["metadata"].(map[string]any)
	var was metav1.PartialObjectMetadata
	if before != nil {
		_ = json.Unmarshal(before, &was)
		metadata["uid"] = string(was.UID)
	} else {
		metadata["uid"] = fmt.Sprintf("6d1f7b1e-0000-4000-8000-%012d", q.uids)
	}
	if r.Method == http.MethodPatch {
		fields := map[string]any{}
		for key, value := range object {
			if key != "apiVersion" && key != "kind" {
				fields["f:"+key] = fieldsOf(value)
			}
		}
		metadata["managedFields"] = []any{map[string]any{
			"manager": r.URL.Query().Get("fieldManager"), "operation": "Apply", "apiVersion": object["apiVersion"],
			"time": "2026-11-22T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields,
		}}
		fillIn(object)
	}
	metadata["creationTimestamp"], metadata["resourceVersion"] = "2026-11-22T00:00:00Z", strconv.Itoa(1000+q.uids)
	text, _ := json.Marshal(object)
	if r.URL.Query().Get("dryRun") == "" {
		if q.stored[collection] == nil {
			q.stored[collection] = map[string][]byte{}
		}
		q.stored[collection][name] = text
	}
	return text
}

// fieldsOf returns a value's entry in managedFields.
func fieldsOf(value any) map[string]any {
	out := map[string]any{}
	if m, ok := value.(map[string]any); ok {
		for key, value := range m {
			if key != "uid" && key != "resourceVersion" && key != "name" && key != "namespace" {
				out["f:"+key] = fieldsOf(value)
			}
		}
	}
	return out
}

// fillIn adds the defaults that an API server fills in for the kinds of the generated chart.
func fillIn(object map[string]any) {
	set := func(at map[string]any, text string) {
		defaults := map[string]any{}
		_ = json.Unmarshal([]byte(text), &defaults)
		for key, value := range defaults {
			if _, given := at[key]; !given && at != nil {
				at[key] = value
			}
		}
	}
	spec, _ := object["spec"].(map[string]any)
	switch object["kind"] {
	case "Service":
		set(spec, `{"clusterIPs":["None"],"internalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","sessionAffinity":"None","type":"ClusterIP"}`)
		set(object, `{"status":{"loadBalancer":{}}}`)
	case "Deployment":
		set(spec, `{"progressDeadlineSeconds":600,"revisionHistoryLimit":10,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}}`)
		pod, _, _ := unstructured.NestedFieldNoCopy(spec, "template", "spec")
		set(pod.(map[string]any), `{"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}`)
		containers, _, _ := unstructured.NestedFieldNoCopy(spec, "template", "spec", "containers")
		set(containers.([]any)[0].(map[string]any), `{"imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}`)
		set(object, `{"status":{"observedGeneration":1}}`)
		set(object["metadata"].(map[string]any), `{"generation":1}`)
	}
}

// list answers a LIST, page by page, in the order of names.
func (q *quickServer) list(w http.ResponseWriter, r *http.Request) {
	var names []string
	after := r.URL.Query().Get("continue")
	labels := strings.Split(r.URL.Query().Get("labelSelector"), ",")
	for name, text := range q.stored[r.URL.Path] {
		if name > after && !slices.ContainsFunc(labels, func(label string) bool {
			key, value, _ := strings.Cut(label, "=")
			return label != "" && !strings.Contains(string(text), fmt.Sprintf("%q:%q", key, value))
		}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	metadata := map[string]any{"resourceVersion": "1"}
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && len(names) > limit {
		names = names[:limit]
		metadata["continue"] = names[limit-1]
	}
	items := make([]json.RawMessage, 0, len(names))
	for _, name := range names {
		items = append(items, q.stored[r.URL.Path][name])
	}
	apiVersion, kind := "v1", "SecretList" // typed clients require them
	for _, k := range generatedKinds {
		if strings.HasSuffix(r.URL.Path, "/"+k.resource) {
			apiVersion, kind = k.apiVersion, k.kind+"List"
		}
	}
	answer(w, http.StatusOK, map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "items": items})
}
