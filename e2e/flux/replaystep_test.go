//go:build cluster

package flux_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
)

type resource = schema.GroupVersionResource

const mergePatch = types.MergePatchType

var namespaceLine = regexp.MustCompile(`(?m)^ *(namespace|targetNamespace): (\S+)`)

// spaces returns the namespaces that a trace names.
func (r *replay) spaces() []string {
	var out []string
	seen := map[string]bool{}
	for _, step := range r.trace.Steps {
		for _, m := range namespaceLine.FindAllStringSubmatch(step.Applied, -1) {
			if !seen[m[2]] {
				seen[m[2]] = true
				out = append(out, m[2])
			}
		}
	}
	return out
}

// namespaces creates those that existed before the trace: all but those whose names end in -new.
func (r *replay) namespaces() {
	all := kubernetes.NewForConfigOrDie(cluster.Config(r.t)).CoreV1().Namespaces()
	for _, name := range r.spaces() {
		if strings.HasSuffix(name, "-new") {
			continue
		}
		_, err := all.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			r.t.Fatal(err)
		}
	}
}

var edit = regexp.MustCompile(`^# by hand: the release in Secret (\S+) is decoded, changed and stored again: (.*)`)

// apply repeats what a step applied: documents, and lines that say what was done.
func (r *replay) apply(step *fluxtest.Step) {
	var doc strings.Builder
	var docs []string
	next := func() {
		if strings.TrimSpace(doc.String()) != "" {
			docs = append(docs, doc.String())
		}
		doc.Reset()
	}
	flush := func() {
		next()
		if r.served != nil { // the recorder was faster than helm-controller: values are there before anybody looks
			slices.SortStableFunc(docs, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
		}
		for _, text := range docs {
			r.document(step, text)
		}
		docs = nil
	}
	for line := range strings.Lines(step.Applied) {
		switch {
		case strings.HasPrefix(line, "---"):
			next()
		case strings.HasPrefix(line, "# kubectl "), strings.HasPrefix(line, "# helm3 install web"), strings.HasPrefix(line, "# helm3 upgrade web"), strings.HasPrefix(line, "# helm4 upgrade web"), strings.HasPrefix(line, "# helm4 install web"), strings.HasPrefix(line, "# helm4 uninstall web"):
			flush()
			r.command(strings.TrimPrefix(strings.TrimSpace(line), "# "))
		case edit.MatchString(line):
			flush()
			m := edit.FindStringSubmatch(line)
			r.edit(m[1], strings.TrimSpace(m[2]))
		case strings.HasPrefix(line, "#"):
		default:
			doc.WriteString(line)
		}
	}
	flush()
}

var valuesLine = regexp.MustCompile(`(?m)^kind: (ConfigMap|Secret)$`)

// rank returns 0 for a document with values, else 1.
func rank(doc string) int {
	if valuesLine.MatchString(doc) {
		return 0
	}
	return 1
}

// document applies an object, and its status, if it has one.
func (r *replay) document(step *fluxtest.Step, text string) {
	text = strings.ReplaceAll(text, "value: (left out)", "value: "+quoted(r.kubeconfig()))
	o := &unstructured.Unstructured{}
	var object any // the recorder's YAML is 1.2: y is a string
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		r.t.Fatalf("%s: %v", step.Name, err)
	}
	data, err := json.Marshal(object)
	if err == nil {
		err = o.UnmarshalJSON(data)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", step.Name, err)
	}
	r.publish(o)
	status, has := o.Object["status"]
	delete(o.Object, "status")
	gvr, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	in := r.objects.Resource(gvr).Namespace(o.GetNamespace())
	options := metav1.ApplyOptions{FieldManager: "recorder", Force: true}
	_, err = in.Apply(context.Background(), o.GetName(), o, options)
	if err == nil && has {
		o.Object["status"] = status
		_, err = in.ApplyStatus(context.Background(), o.GetName(), o, options)
	}
	if refused := step.Answer != ""; refused != (err != nil) {
		r.t.Fatalf("%s: %s %s: %v", step.Name, o.GetKind(), o.GetName(), err)
	}
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func (r *replay) kubeconfig() string {
	data, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

// command runs a line: kubectl, helm3 or helm4.
func (r *replay) command(line string) {
	line, _, _ = strings.Cut(line, "   (exit")
	var args []string
	for _, w := range word.FindAllString(line, -1) {
		i := strings.Index(w, "'")
		if i == 0 {
			w = strings.Trim(w, "'")
		}
		if strings.HasPrefix(w, "chart/") {
			w = filepath.Join(r.trace.Dir, w)
		}
		args = append(args, w)
	}
	switch args[0] {
	case "kubectl":
		if strings.Contains(line, " delete ") {
			args = append(args, "--wait=false")
		}
		cluster.Kubectl(r.t, args[1:]...)
	case "helm3":
		cluster.Helm3(r.t, args[1:]...)
	case "helm4":
		cluster.Helm4(r.t, args[1:]...)
	}
}

// edit changes a stored record, as the line says.
func (r *replay) edit(secret, what string) {
	ctx := context.Background()
	all := kubernetes.NewForConfigOrDie(cluster.Config(r.t)).CoreV1().Secrets(r.spaces()[0])
	s, err := all.Get(ctx, secret, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(r.unpacked(s), &record); err != nil {
		r.t.Fatal(err)
	}
	info := record["info"].(map[string]any)
	switch _, status, ok := strings.Cut(what, "label status="); {
	case ok:
		info["status"], s.Labels["status"] = status, status
	case strings.HasPrefix(what, "manifest"):
		record["manifest"] = strings.ReplaceAll(record["manifest"].(string), "one", "other")
	default:
		info["description"] = "by hand"
	}
	data, err := json.Marshal(record)
	if err != nil {
		r.t.Fatal(err)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		r.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	s.Data["release"] = []byte(base64.StdEncoding.EncodeToString(out.Bytes()))
	if _, err := all.Update(ctx, s, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// unpacked returns the JSON of a stored record.
func (r *replay) unpacked(s *corev1.Secret) []byte {
	packed, err := base64.StdEncoding.DecodeString(string(s.Data["release"]))
	if err != nil {
		r.t.Fatal(err)
	}
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}
