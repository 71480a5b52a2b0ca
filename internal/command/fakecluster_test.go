package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// desk is where somebody types commands: a cluster in memory, and a folder with a chart.
type desk struct {
	*clusterfake.Cluster
	t      *testing.T
	client *fake.Clientset
	// users are the impersonated users, contexts those that were connected to.
	users, contexts []string
	// in is what is typed in answer to a question, nil if nobody is there.
	in io.Reader
}

// memory is the cluster as commands see it.
type memory struct {
	*clusterfake.Cluster
	client *fake.Clientset
}

func (m memory) CoreV1() corev1.CoreV1Interface { return m.client.CoreV1() }

func (m memory) CoordinationV1() coordinationv1.CoordinationV1Interface {
	return m.client.CoordinationV1()
}

// Facts returns those of a cluster that people know as the context dev.
func (m memory) Facts(ctx context.Context) (cluster.Facts, error) {
	facts, err := m.Cluster.Facts(ctx)
	facts.Cluster = plan.Cluster{Context: "dev", Server: "https://prod.example:6443", UID: "dev"}
	return facts, err
}

// Validate is something that a cluster in memory can't do.
func (memory) Validate(context.Context, []manifest.Object, []manifest.Object, string) ([]cluster.Verdict, error) {
	return nil, errors.New("nothing is validated here")
}

// atDesk gives a test a desk with the namespace shop.
func atDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Cluster: clusterfake.New(), t: t, client: clusterfake.Clientset()}
	d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"))
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, appVersion: '7'}")
	d.file("web/values.yaml", "text: one\npassword: \"\"\n")
	d.file("web/templates/NOTES.txt", "It says {{ .Values.text }}.")
	d.file("web/templates/all.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {text: {{ .Values.text | quote }}}
{{- if .Values.password }}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: {{ .Values.password | quote }}}
{{- end }}
{{- if .Values.test }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: smoke, annotations: {helm.sh/hook: test}}
{{- end }}
`)
	return d
}

func (d *desk) file(name, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// answer is what a user sees of a command.
type answer struct {
	code     int
	out, err string
}

// types runs a line, such as "install web ./web", in the namespace shop.
func (d *desk) types(line string) answer {
	d.t.Helper()
	return d.typesIn(d.t.Context(), line)
}

func (d *desk) typesIn(ctx context.Context, line string) answer {
	d.t.Helper()
	var out, errs bytes.Buffer
	in := d.in
	if in == nil {
		in = strings.NewReader("")
	}
	p := newProgram(Streams{In: in, Out: &out, Err: &errs}, "kubectl release")
	p.dial = func(o *connectionFlags) (api, string, error) {
		d.contexts = append(d.contexts, o.context)
		if o.as != "" {
			d.users = append(d.users, o.as)
		}
		if o.foreign != nil {
			d.users = append(d.users, string(o.foreign))
		}
		if string(o.foreign) == "gone" {
			return nil, "", errors.New("nobody answers")
		}
		return memory{d.Cluster, d.client}, "shop", nil
	}
	code := p.main(ctx, nil, append([]string{"kubectl-release"}, strings.Fields(line)...))
	return answer{code, out.String(), errs.String()}
}

// must is types for a line that has to succeed.
func (d *desk) must(line string) answer {
	d.t.Helper()
	a := d.types(line)
	if a.code != exitDone {
		d.t.Fatalf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
	}
	return a
}

// text returns what the chart's ConfigMap says, "" if it does not exist.
func (d *desk) text() string {
	o := d.Objects[manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}]
	if o == nil {
		return ""
	}
	return o.Object["data"].(map[string]any)["text"].(string)
}
