package releasestore

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

func pack(data []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func plant(t *testing.T, b backend, name, record string) {
	t.Helper()
	releaseName, version, _ := parseName(name)
	_, err := b.create(t.Context(), object{
		meta: metav1.ObjectMeta{
			Namespace: "shop", Name: name,
			Labels: map[string]string{"owner": "helm", "name": releaseName, "version": strconv.Itoa(version), "status": "deployed"},
		},
		record: record,
	})
	must(t, err)
}

// S10: records that can't be read are named with the reason, newest first, and the rest
// of the history is returned; no gzip bomb goes off.
func TestCorruptRecords(t *testing.T) {
	whole := pack([]byte(`{"name":"web","version":2}`))
	for name, c := range map[string]struct{ record, reason string }{
		"no data":             {"", `the key "release" is missing or empty`},
		"not base64":          {"%%%", "not base64: illegal base64 data at input byte 0"},
		"cut off":             {base64.StdEncoding.EncodeToString(firstHalf(t, whole)), "damaged gzip: it ends too early"},
		"header only":         {"H4sI", "damaged gzip: unexpected EOF"},
		"not JSON":            {pack([]byte("kind: Secret")), "not a release in JSON: it begins with 'k' and is not an object"},
		"a list":              {pack([]byte("[]")), "not a release in JSON: it begins with '[' and is not an object"},
		"null":                {pack([]byte("null")), "not a release in JSON: it begins with 'n' and is not an object"},
		"another revision":    {pack([]byte(`{"name":"web","version":3}`)), `it contains "web" revision 3`},
		"bomb":                {pack(append([]byte(`{"manifest":"`), make([]byte, MaxUnpacked)...)), "it unpacks to more than 64 MiB"},
		"a long description":  {pack(fmt.Appendf(nil, `{"name":"web","version":2,"info":{"description":"%s"}}`, strings.Repeat("x", maxOutline))), "the part of the record to be read is too large"},
		"bomb of many layers": {pack([]byte(`{"info":{"status":` + strings.Repeat("[", 100_000) + "}}")), "not a release in JSON: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newMemoryBackend()
			s := open(b, testClock())
			must(t, s.Create(t.Context(), testRevision(1, release.StatusSuperseded)))
			plant(t, b, "sh.helm.release.v1.web.v2", c.record)
			h, err := s.History(t.Context(), testKey(), nil)
			if len(h) != 1 || h[0].Version != 1 {
				t.Errorf("history beside a corrupt record: %v", h)
			}
			corrupt, only := Corrupt(err)
			if !only || len(corrupt) != 1 || corrupt[0].Version != 2 || corrupt[0].Key != testKey() {
				t.Fatalf("error of a corrupt record: %v", err)
			}
			want := "record of web revision 2 (record shop/sh.helm.release.v1.web.v2) can't be read: " + c.reason
			if !strings.HasPrefix(corrupt[0].Error(), want) {
				t.Errorf("got  %s\nwant %s", corrupt[0], want)
			}
			must(t, s.Delete(t.Context(), testKey(), 2)) // it can be removed
		})
	}
}

func firstHalf(t *testing.T, record string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(record)
	must(t, err)
	return data[:len(data)/2]
}

// Corruption is distinguished from other errors, and the newest record comes first.
func TestCorrupt(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	for _, v := range []string{"2", "10", "9"} {
		plant(t, b, "sh.helm.release.v1.web.v"+v, "x")
	}
	_, err := s.History(t.Context(), testKey(), nil)
	corrupt, _ := Corrupt(err)
	var versions []int
	for _, c := range corrupt {
		versions = append(versions, c.Version)
	}
	equal(t, []int{10, 9, 2}, versions)
	if _, only := Corrupt(errors.Join(err, errors.New("down"))); only {
		t.Error("another error passes for corruption")
	}
	if corrupt, only := Corrupt(nil); !only || corrupt != nil {
		t.Error("no error is no corruption")
	}
}

// A record from before Helm packed records, with times as Helm 3 writes them.
func TestUnpackedRecord(t *testing.T) {
	b := newMemoryBackend()
	plant(t, b, "sh.helm.release.v1.web.v1", base64.StdEncoding.EncodeToString([]byte(
		`{"name":"web","version":1,"namespace":"elsewhere","info":{"deleted":"","status":"deployed"}}`)))
	r, err := open(b, testClock()).Get(t.Context(), testKey(), 1)
	must(t, err)
	equal(t, release.StatusDeployed, r.Info.Status)
	equal(t, testKey(), r.Key()) // the namespace where it is stored counts
}

// Objects that have our labels by chance are not records; the record of a release with ".v" in its
// name is one.
func TestForeignObjects(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	plant(t, b, "web-settings", "x")
	plant(t, b, "sh.helm.release.v1.web.v01", "x")
	r := testRevision(3, release.StatusDeployed)
	r.Name = "web.v2"
	must(t, s.Create(t.Context(), r))
	got, err := s.List(t.Context(), Query{})
	must(t, err)
	if len(got) != 1 || got[0].Name != "web.v2" || got[0].Version != 3 {
		t.Errorf("listed: %v", got)
	}
}

// Records that Helm 3.22.0 and 4.3.1 wrote are read whole, and written back
// with nothing changed but the status.
func TestRecordsOfHelm(t *testing.T) {
	for _, helm := range []string{"helm3", "helm4"} {
		t.Run(helm, func(t *testing.T) {
			client := fake.NewClientset(fixture(t, helm)).CoreV1()
			s, _ := Open(client, "secret", testClock())
			h, err := s.History(t.Context(), testKey(), nil)
			must(t, err)
			r := h.Last()
			equal(t, map[string]string{"team": "shop"}, r.Labels)
			equal(t, "web-1.4.2", r.ChartLabel())
			before := content(t, client, ObjectName("web", r.Version))
			must(t, s.Update(t.Context(), r.WithStatus(release.StatusUninstalling, "Deletion in progress")))

			after := content(t, client, ObjectName("web", r.Version))
			info := before["info"].(map[string]any)
			info["status"], info["description"] = "uninstalling", "Deletion in progress"
			equal(t, before, after)
		})
	}
}

func fixture(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".secret.json")
	must(t, err)
	var secret corev1.Secret
	must(t, json.Unmarshal(data, &secret))
	return &secret
}

func content(t *testing.T, client Client, name string) map[string]any {
	t.Helper()
	secret, err := client.Secrets("shop").Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	packed, err := base64.StdEncoding.DecodeString(string(secret.Data["release"]))
	must(t, err)
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	data, err := io.ReadAll(unpacked)
	must(t, err)
	var out map[string]any
	must(t, json.Unmarshal(data, &out))
	return out
}

// The list shows the newest revision of each release and decodes no others.
func TestList(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	add := func(namespace, name string, version int, status release.Status) {
		r := testRevision(version, status)
		r.Namespace, r.Name = namespace, name
		must(t, s.Create(t.Context(), r))
	}
	add("shop", "web", 9, release.StatusSuperseded)
	add("shop", "web", 10, release.StatusDeployed)
	add("shop", "db", 1, release.StatusFailed)
	add("blog", "web", 1, release.StatusUninstalled)
	plant(t, b, "sh.helm.release.v1.web.v8", "corrupt, and nobody asks")

	team, err := labels.Parse("team=shop,status!=failed")
	must(t, err)
	for name, c := range map[string]struct {
		query Query
		want  string
	}{
		"everywhere":  {Query{}, "blog/web1 shop/db1 shop/web10"},
		"a namespace": {Query{Namespace: "shop"}, "shop/db1 shop/web10"},
		"by status":   {Query{Statuses: []release.Status{release.StatusFailed, release.StatusSuperseded}}, "shop/db1"},
		"by label":    {Query{Namespace: "shop", Selector: team}, "shop/web10"},
		"nothing":     {Query{Namespace: "none"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.List(t.Context(), c.query)
			must(t, err)
			var names []string
			for _, r := range got {
				names = append(names, r.Key().String()+strconv.Itoa(r.Version))
			}
			equal(t, c.want, strings.Join(names, " "))
		})
	}
}

// S11: a record that is too large is refused before it is sent.
func TestTooLarge(t *testing.T) {
	noise := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	r := testRevision(1, release.StatusPendingInstall)
	r.Chart.Files = []*chart.File{{Name: "noise", Data: noise}}
	size, err := Size(r)
	must(t, err)
	s := open(newMemoryBackend(), testClock())
	var large *TooLargeError
	if err := s.Create(t.Context(), r); !errors.As(err, &large) || large.Size != size || large.Max != 1048576 {
		t.Errorf("record of %d bytes: %v", size, err)
	} else if !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("package apply does not recognise %v", err)
	}
	r.Chart.Files[0].Data = noise[:500_000]
	must(t, s.Create(t.Context(), r))
}

// Users can't set the store's own labels.
func TestReservedLabels(t *testing.T) {
	s := open(newMemoryBackend(), testClock())
	for _, label := range []string{"name", "owner", "status", "version", "createdAt", "modifiedAt"} {
		r := testRevision(1, release.StatusPendingInstall)
		r.Labels = map[string]string{label: "x"}
		if err := s.Create(t.Context(), r); err == nil || s.CheckLabels(r.Labels) == nil {
			t.Errorf("label %s: %v", label, err)
		}
	}
}

// Whatever is in a Secret, reading it ends with a revision or an error, and
// what was read can be written and read again.
func FuzzDecode(f *testing.F) {
	for _, helm := range []string{"helm3", "helm4"} {
		data, err := os.ReadFile("testdata/" + helm + ".secret.json")
		if err != nil {
			f.Fatal(err)
		}
		var secret corev1.Secret
		if err := json.Unmarshal(data, &secret); err != nil {
			f.Fatal(err)
		}
		f.Add(string(secret.Data["release"]), false)
	}
	f.Add(`{"name":"web","version":1,"info":null,"hooks":[null],"unknown":{"a":1e400}}`, true)
	f.Add(`{"info":{"deleted":"","Status":"deployed","more":[1]},"chart":{"files":[null]}}`, true)
	f.Add("H4sI", false)
	f.Fuzz(func(t *testing.T, record string, raw bool) {
		if raw {
			record = base64.StdEncoding.EncodeToString([]byte(record))
		}
		r, err := decode(record, release.Whole, MaxUnpacked, newAllowance())
		if err != nil {
			return
		}
		again, err := encode(r.WithStatus(release.StatusFailed, "fuzzed"))
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		back, err := decode(again, release.Whole, MaxUnpacked, newAllowance())
		if err != nil {
			t.Fatalf("what was written can't be read: %v", err)
		}
		for _, part := range []release.Part{release.Sent, release.Outline, release.HookRuns} {
			some, err := decode(again, part, MaxUnpacked, newAllowance())
			if err != nil {
				t.Fatalf("part %d of what was written can't be read: %v", part, err)
			}
			if some.Info.Status != release.StatusFailed || some.Info.Description != "fuzzed" || some.ChartLabel() != back.ChartLabel() ||
				part == release.Sent && (some.Manifest != back.Manifest || len(some.Hooks) != len(back.Hooks)) {
				t.Fatalf("part %d of what was written is read as %+v", part, some)
			}
		}
		if back.Info.Status != release.StatusFailed || back.Manifest != r.Manifest {
			t.Fatalf("what was written is read as %+v", back.Info)
		}
	})
}

// Revision numbers that no tool assigns are corruption, reported with the object's
// name, and are never stored.
func TestOddNumbers(t *testing.T) {
	for _, version := range []int{-1, 0, math.MaxInt32, math.MaxInt64} {
		b := newMemoryBackend()
		s := open(b, testClock())
		must(t, s.Create(t.Context(), testRevision(1, release.StatusDeployed)))
		name := ObjectName("web", version)
		plant(t, b, name, pack(fmt.Appendf(nil, `{"name":"web","version":%d}`, version)))
		h, err := s.History(t.Context(), testKey(), nil)
		corrupt, only := Corrupt(err)
		if len(h) != 1 || !only || len(corrupt) != 1 {
			t.Fatalf("%d: %v, %v", version, h, err)
		}
		want := fmt.Sprintf("record of web revision %d (record shop/%s) can't be read: its number, %d, is not between 1 and 2147483646", version, name, version)
		if corrupt[0].Error() != want {
			t.Errorf("got  %s\nwant %s", corrupt[0], want)
		}
		if err := s.Create(t.Context(), testRevision(version, release.StatusDeployed)); err == nil || !strings.Contains(err.Error(), "is not between") {
			t.Errorf("create revision %d: %v", version, err)
		}
	}
}
