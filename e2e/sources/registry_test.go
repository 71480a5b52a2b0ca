//go:build cluster

package sources_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// registryProgram returns the path of the registry's binary.
func registryProgram(t testing.TB) string {
	t.Helper()
	b, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	path, err := b.Tool(context.Background(), "distribution", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func plainRegistry(t testing.TB) *sourcetest.Registry {
	t.Helper()
	return sourcetest.StartRegistry(t, sourcetest.RegistryOptions{Program: registryProgram(t)})
}

func secureRegistry(t testing.TB) *sourcetest.Registry {
	t.Helper()
	return sourcetest.StartRegistry(t, sourcetest.RegistryOptions{Program: registryProgram(t), User: "u", Password: "p"})
}

// chartFile writes a chart's archive into the home.
func (h *home) chartFile(name, version, text string) string {
	h.t.Helper()
	file := name + "-" + version + ".tgz"
	h.write(file, string(sourcetest.Chart(h.t, name, version, text)))
	return file
}

func TestCheck25LogIn(t *testing.T) {
	s, h := secureRegistry(t), newHome(t)
	const file = ".config/helm/registry/config.json"
	login := func(password string) result {
		return h.runProgram(password+"\n", "registry", "login", s.Host, "-u", "u", "--password-stdin", "--ca-file", s.CAFile)
	}
	if r := login("wrong"); r.code != 1 || h.exists(file) {
		t.Errorf("a wrong password: %+v", r)
	}
	if r := login("p"); r.code != 0 {
		t.Fatal(r.err)
	}
	before := h.read(file)
	if login("wrong").code != 1 || h.read(file) != before {
		t.Error("a wrong password changes the file")
	}
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+s.Host+"/charts", "--ca-file", s.CAFile)
	h.helm("pull", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile, "-d", h.dir)
	h.ok("registry", "logout", s.Host)
	if strings.Contains(h.read(file), s.Host) {
		t.Error(h.read(file))
	}
	h.fails(11, "wants a user name and a password", "pull", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile)
	h.ok("registry", "logout", s.Host)
	// Helm panics here.
	h.fails(1, "read the CA file", "registry", "login", s.Host, "-u", "u", "-p", "p", "--ca-file", "/nope")
	// A login with Helm works for us, too.
	h.helm("registry", "login", s.Host, "-u", "u", "-p", "p", "--ca-file", s.CAFile)
	h.ok("show", "chart", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile)
	h.fails(1, "certificate", "show", "chart", "oci://"+s.Host+"/charts/alpha")
}

// runProgram runs our program with the given standard input.
func (h *home) runProgram(in string, args ...string) result {
	return h.run(in, program(h.t), args...)
}

func TestCheck26CredentialHelpers(t *testing.T) {
	s, h := secureRegistry(t), newHome(t)
	h.chartFile("alpha", "1.0.0", "")
	h.ok("push", "alpha-1.0.0.tgz", "oci://"+s.Host+"/charts", "--ca-file", s.CAFile, "--username", "u", "--password", "p")
	helper := h.write("bin/docker-credential-test", "#!/bin/sh\nread host\necho \"$1 $host\" >>"+h.path("helper.log")+"\necho '{\"ServerURL\":\"\",\"Username\":\"u\",\"Secret\":\"p\"}'\n")
	if err := os.Chmod(helper, 0o755); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+h.path("bin")+":"+os.Getenv("PATH"), "DOCKER_CONFIG="+h.path("docker"))
	for _, config := range []map[string]any{{"credHelpers": map[string]string{s.Host: "test"}}, {"credsStore": "test"}} {
		data, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		h.write("docker/config.json", string(data))
		h.write("helper.log", "")
		h.ok("show", "chart", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile)
		if got := h.read("helper.log"); got != "get "+s.Host+"\n" {
			t.Errorf("%s: the helper was asked %q", data, got)
		}
	}
	// Podman's file can name paths below a host.
	h.write("docker/config.json", "{}")
	h.write("run/containers/auth.json", `{"auths":{"`+s.Host+`/other":{"auth":"eDp5"},"`+s.Host+`/charts":{"auth":"dTpw"}}}`)
	h.env = append(h.env, "XDG_RUNTIME_DIR="+h.path("run"))
	h.ok("show", "chart", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile)
}

// credentialHelper installs a helper named test: what it keeps is in the file kept, and what it was
// asked for is in helper.log.
func (h *home) credentialHelper() {
	helper := h.write("bin/docker-credential-test", `#!/bin/sh
kept=`+h.path("kept")+`
case $1 in
store) cat >$kept ;;
get) read host; test -e $kept && cat $kept || { echo "credentials not found in native keychain"; exit 1; } ;;
erase) read host; rm -f $kept ;;
esac
echo "$1" >>`+h.path("helper.log")+"\n")
	must(h.t, os.Chmod(helper, 0o755))
	h.env = append(h.env, "PATH="+h.path("bin")+":"+os.Getenv("PATH"))
}

// A login is kept by the helper that Helm's file names, for all registries or for one; the password is
// in no file.
func TestCheck26LoginByAHelper(t *testing.T) {
	s := secureRegistry(t)
	for name, config := range map[string]map[string]any{"credsStore": {"credsStore": "test"}, "credHelpers": {"credHelpers": map[string]string{s.Host: "test"}}} {
		h := newHome(t)
		h.credentialHelper()
		data, err := json.Marshal(config)
		must(t, err)
		const file = ".config/helm/registry/config.json"
		h.write(file, string(data))
		login := func(password string) result {
			return h.runProgram(password+"\n", "registry", "login", s.Host, "-u", "u", "--password-stdin", "--ca-file", s.CAFile)
		}
		if r := login("wrong"); r.code != 1 || h.exists("kept") {
			t.Errorf("%s: a wrong password: %+v", name, r)
		}
		if r := login("p"); r.code != 0 || !strings.Contains(h.read("kept"), `"Secret":"p"`) || strings.Contains(h.read(file), "dTpw") {
			t.Errorf("%s: %+v, kept %q", name, r, h.read(file))
		}
		h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+s.Host+"/charts", "--ca-file", s.CAFile)
		h.helm("show", "chart", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile)
		h.ok("registry", "logout", s.Host)
		if h.exists("kept") || !strings.HasSuffix(h.read("helper.log"), "erase\n") {
			t.Errorf("%s: the helper did %q", name, h.read("helper.log"))
		}
		h.fails(11, "wants a user name and a password", "show", "chart", "oci://"+s.Host+"/charts/alpha", "--ca-file", s.CAFile)
	}
}

func TestCheck27And29Push(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	h.write("alpha/Chart.yaml", "apiVersion: v2\nname: alpha\nversion: 1.0.0+b.1\ndescription: a chart\nhome: https://h\nsources: [https://s, https://t]\nmaintainers: [{name: me, email: me@h}, {name: you}]\nannotations: {a: b, org.opencontainers.image.url: https://other}\n")
	h.ok("package", "alpha")
	const file = "alpha-1.0.0+b.1.tgz"
	to := "oci://" + r.Host + "/charts"
	var pushed []map[string]any
	if err := json.Unmarshal([]byte(h.ok("push", file, to, "-o", "json").out), &pushed); err != nil || len(pushed) != 1 {
		t.Fatal(err)
	}
	raw := fetchManifest(t, "http://"+r.Host+"/v2/charts/alpha/manifests/1.0.0_b.1")
	if pushed[0]["digest"] != "sha256:"+sourcetest.Digest(raw) || pushed[0]["changed"] != true {
		t.Errorf("%v", pushed)
	}
	var ours, theirs map[string]any
	helms := newHome(t)
	helms.write(file, h.read(file))
	other := plainRegistry(t)
	helms.helm("push", file, "oci://"+other.Host+"/charts", "--plain-http")
	must(t, json.Unmarshal(raw, &ours))
	must(t, json.Unmarshal(fetchManifest(t, "http://"+other.Host+"/v2/charts/alpha/manifests/1.0.0_b.1"), &theirs))
	delete(theirs["annotations"].(map[string]any), "org.opencontainers.image.created")
	if a, b := canonical(t, ours), canonical(t, theirs); a != b {
		t.Errorf("ours:\n%s\nHelm's:\n%s", a, b)
	}
	h.helm("pull", "oci://"+r.Host+"/charts/alpha", "--version", "1.0.0+b.1", "--plain-http", "-d", helms.dir)
	if helms.read(file) != h.read(file) {
		t.Error("Helm pulls other bytes")
	}
	r.Forget()
	if out := h.ok("push", file, to).out; !strings.Contains(out, pushed[0]["digest"].(string)) {
		t.Error(out)
	}
	if asked := r.Asked(); len(asked) != 1 || !strings.HasPrefix(asked[0], "HEAD ") {
		t.Errorf("asked %q", asked)
	}
	h.write("alpha/values.yaml", "a: b\n")
	h.ok("package", "alpha")
	h.fails(1, "already exists with other content", "push", file, to)
	h.ok("push", file, to, "--force")
	// The same bytes pushed by Helm are the same content.
	helms.helm("push", file, "oci://"+other.Host+"/charts", "--plain-http")
	helms.ok("push", file, "oci://"+other.Host+"/charts")
}

// A .prov next to an archive becomes a layer of its own. Its content is not looked at here.
func TestCheck28PushProvenance(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	file := h.chartFile("alpha", "1.0.0", "")
	h.write(file+".prov", "signed")
	h.ok("push", file, "oci://"+r.Host+"/charts")
	var m struct{ Layers []struct{ MediaType string } }
	must(t, json.Unmarshal(fetchManifest(t, "http://"+r.Host+"/v2/charts/alpha/manifests/1.0.0"), &m))
	if len(m.Layers) != 2 {
		t.Errorf("%+v", m)
	}
	other := newHome(t)
	other.helm("pull", "oci://"+r.Host+"/charts/alpha", "--version", "1.0.0", "--prov", "--plain-http")
	if other.read(file) != h.read(file) || other.read(file+".prov") != "signed" {
		t.Error("Helm pulls other bytes")
	}
}

func canonical(t testing.TB, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	return string(data)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheck30References(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0-rc.1", "1.0.0+b_1"} {
		if version == "1.0.0+b_1" {
			version = "1.0.1+b.1"
		}
		h.ok("push", h.chartFile("alpha", version, version), "oci://"+r.Host+"/charts")
	}
	ref := "oci://" + r.Host + "/charts/alpha"
	digest := func(version string) string {
		_, rest, _ := strings.Cut(h.ok("show", "chart", ref, "--version", version).err, "@")
		d, _, _ := strings.Cut(rest, ",")
		return d
	}
	old := digest("1.0.0")
	for want, lines := range map[string][][]string{
		"1.1.0":      {{ref}, {ref, "--version", "^1.0"}, {ref, "--version", "latest"}, {ref + ":1.1.0"}, {ref + ":1.1.0@" + digest("1.1.0")}, {ref, "--version", "1.1"}},
		"1.0.0":      {{ref, "--version", "1.0.0"}, {ref + "@" + old}, {ref, "--version", "1.0.0@" + old}, {ref + ":1.0.0", "--version", "1.0.0"}, {ref + ":gone@" + old}},
		"2.0.0-rc.1": {{ref, "--devel"}, {ref, "--version", ">1.5.0-0"}},
		"1.0.1+b.1":  {{ref + ":1.0.1+b.1"}, {ref + ":1.0.1_b.1"}, {ref, "--version", "1.0.1+b.1"}, {ref, "--tag", "1.0.1_b.1"}},
	} {
		for _, line := range lines {
			if out := h.ok(append([]string{"template", "web"}, line...)...).out; !strings.Contains(out, `version: "`+want+`"`) {
				t.Errorf("%q: not %s:\n%s", line, want, out)
			}
		}
	}
	h.fails(8, "was promised", "template", "web", ref+":1.1.0@"+old)
	h.fails(10, "there is no chart "+ref+":9.9.9", "template", "web", ref, "--version", "9.9.9")
	h.fails(1, "there is no version ^9", "template", "web", ref, "--version", "^9")
	tagAs(t, "http://"+r.Host+"/v2/charts/alpha/manifests/", "1.0.0", "latest")
	if out := h.ok("template", "web", ref, "--tag", "latest").out; !strings.Contains(out, `version: "1.0.0"`) {
		t.Error(out)
	}
	h.ok("template", "web", ref+":latest")
}

// tagAs gives a manifest another tag.
func tagAs(t testing.TB, manifests, tag, as string) {
	t.Helper()
	q, err := http.NewRequest(http.MethodPut, manifests+as, strings.NewReader(string(fetchManifest(t, manifests+tag))))
	must(t, err)
	q.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	resp, err := http.DefaultClient.Do(q)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatal(resp.Status)
	}
}

func TestCheck33OneHead(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+r.Host+"/charts")
	h.ok("pull", "oci://"+r.Host+"/charts/alpha:1.0.0")
	r.Forget()
	h.ok("pull", "oci://"+r.Host+"/charts/alpha:1.0.0")
	if asked := r.Asked(); !slices.Equal(asked, []string{"HEAD /v2/charts/alpha/manifests/1.0.0 200"}) {
		t.Errorf("asked %q", asked)
	}
	h.ok("template", "web", "oci://"+r.Host+"/charts/alpha")
	r.Stop()
	h.ok("template", "web", "oci://"+r.Host+"/charts/alpha:1.0.0", "--offline")
	h.ok("template", "web", "oci://"+r.Host+"/charts/alpha", "--offline")
	h.fails(9, "is not in the cache", "template", "web", "oci://"+r.Host+"/charts/beta", "--offline")
}

func TestCheck34Patience(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+r.Host+"/charts")
	// Nobody listens for a second, which is shorter than all of a run's pauses together. Starting the
	// registry itself could take as long as they last.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	host := listener.Addr().String()
	must(t, listener.Close())
	back := make(chan net.Listener, 1)
	time.AfterFunc(time.Second, func() {
		listener, err := net.Listen("tcp", host)
		if err == nil {
			go func() {
				_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { forward(w, q, r.Host) }))
			}()
		}
		back <- listener
	})
	h.ok("pull", "oci://"+host+"/charts/alpha:1.0.0")
	must(t, (<-back).Close())
	for _, tls := range []bool{false, true} {
		front := sourcetest.Serve(t, sourcetest.Options{TLS: tls, Fault: func(w http.ResponseWriter, q *http.Request, n int) bool {
			switch {
			case n < 2 && strings.Contains(q.URL.Path, "/manifests/1.0.0"):
				w.WriteHeader(http.StatusServiceUnavailable)
			case n == 0 && strings.Contains(q.URL.Path, "/blobs/"):
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				forward(w, q, r.Host)
			}
			return true
		}})
		other := newHome(t)
		args := []string{"template", "web", strings.Replace(strings.Replace(front.URL, "https://", "oci://", 1), "http://", "oci://", 1) + "/charts/alpha:1.0.0"}
		if tls {
			args = append(args, "--ca-file", front.CAFile)
		}
		other.ok(args...)
	}
}

// Downloads that break off are resumed where they stopped, from repositories and registries.
func TestCheck34BrokenDownloads(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+r.Host+"/charts")
	breaks := func(q *http.Request, n int) int {
		return map[bool]int{true: 100}[n == 0 && (strings.Contains(q.URL.Path, "/blobs/") || strings.HasSuffix(q.URL.Path, ".tgz"))]
	}
	front := sourcetest.Serve(t, sourcetest.Options{Breaks: breaks, Fault: func(w http.ResponseWriter, q *http.Request, _ int) bool {
		forward(w, q, r.Host)
		return true
	}})
	a := repositoryA(t, sourcetest.Options{Breaks: breaks})
	for chart, server := range map[string]*sourcetest.Repository{strings.Replace(front.URL, "http://", "oci://", 1) + "/charts/alpha:1.0.0": front, a.URL + "/alpha-1.0.0.tgz": a} {
		newHome(t).ok("template", "web", chart) // its cache has neither of the two, which are the same bytes
		var ranges []string
		for _, q := range server.Requests() {
			if asked := q.Header.Get("Range"); asked != "" {
				ranges = append(ranges, fmt.Sprint(asked, " ", q.Status))
			}
		}
		if !slices.Equal(ranges, []string{"bytes=100- 206"}) {
			t.Errorf("%s: asked for %q", chart, ranges)
		}
	}
}

// An archive is the same whoever makes it, wherever, and in whatever order its files were written.
func TestCheck45PackagesAreTheSame(t *testing.T) {
	h := newHome(t)
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: um\nversion: 1.0.0\ndependencies: [{name: a, version: 1.0.0, repository: \"\"}]\n", "templates/cm.yaml": "a: um\n", "values.yaml": "# comment\na: {b: c}\n"}
	for _, sub := range []string{"a", "b", "c"} {
		files["charts/"+sub+"/Chart.yaml"] = "apiVersion: v2\nname: " + sub + "\nversion: 1.0.0\n"
		files["charts/"+sub+"/templates/cm.yaml"] = "a: {{ .Chart.Name }}\n"
	}
	names := slices.Sorted(maps.Keys(files))
	made := map[string]string{}
	for i := range 20 {
		slices.Reverse(names)
		folder := fmt.Sprint(i)
		for _, name := range names {
			h.write(folder+"/um/"+name, files[name])
		}
		if os.Geteuid() == 0 {
			must(t, exec.Command("chown", "-R", fmt.Sprint(1000+i), h.path(folder)).Run())
		}
		epoch := []string{"SOURCE_DATE_EPOCH=", "SOURCE_DATE_EPOCH=1700000000"}[i%2]
		c := exec.Command("sh", "-c", "umask 0"+[]string{"77", "02"}[i/2%2]+"; cd "+folder+"; exec "+program(t)+" package um")
		c.Dir, c.Env = h.dir, append(h.env, epoch, "TZ="+[]string{"UTC", "Asia/Tokyo"}[i/4%2])
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		archive := h.read(folder + "/um-1.0.0.tgz")
		if made[epoch] != "" && made[epoch] != archive {
			t.Fatal("another archive")
		}
		made[epoch] = archive
	}
	h.ok("package", "0/um")
	h.ok("package", "0/um", "--check")
	h.write("0/um/values.yaml", "a: d\n")
	if r := h.k("package", "0/um", "--check"); r.code != 2 || !strings.Contains(r.out, "is not what would be packaged now") {
		t.Errorf("%+v", r)
	}
}

// Signatures of packages are checked elsewhere.
func TestCheck46PackageIsTheFolder(t *testing.T) {
	h := newHome(t)
	h.write("um/Chart.yaml", "apiVersion: v2\nname: um\nversion: 1.0.0\n")
	h.write("um/templates/cm.yaml", "a: {{ .Values.a }}\nf: {{ .Files.Get \"file\" }}\n")
	h.write("um/values.yaml", "a: b\n")
	h.write("um/file", "content")
	h.write("um/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n")
	h.write("um/charts/sub/templates/cm.yaml", "a: sub\n")
	h.ok("package", "um", "-d", "dist")
	if of, folder := h.helm("template", "web", "dist/um-1.0.0.tgz"), h.helm("template", "web", "um"); !same(of, folder) {
		t.Errorf("%s\n%s", of.out, folder.out)
	}
	must(t, os.Symlink("/etc/passwd", h.path("um/passwd")))
	h.fails(1, "is a link to /etc/passwd", "package", "um")
}
