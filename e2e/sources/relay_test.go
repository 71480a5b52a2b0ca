//go:build cluster

package sources_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

var (
	soak = flag.Bool("soak", false, "run a longer relay, with a new seed")
	seed = flag.Uint64("seed", 0, "seed of the relay, to run one again")
)

// relay is one home that Helm 3, Helm 4 and our program share: each continues with the files that
// another one has written.
type relay struct {
	*home
	random *rand.Rand
	// done lists the commands so far, for when one fails.
	done []string
	// servers are the repositories by the names under which they are added, versions their versions of
	// chart alpha, known those that are added.
	servers  map[string]*sourcetest.Repository
	versions map[string][]string
	known    map[string]bool
	plain    *sourcetest.Registry
	secure   *sourcetest.Registry
	// made is how many versions of the umbrella chart there are.
	made int
}

// TestRelay runs a random sequence of steps: repositories, indexes, caches, locks, packages, pushed
// charts and logins of each tool are used by the others. Its seed is in the log; -soak runs 1,000 steps
// with a new seed each time (make soak).
func TestRelay(t *testing.T) {
	steps, number := 100, uint64(1)
	if *soak {
		steps, number = 1000, uint64(time.Now().UnixNano())
	}
	if *seed != 0 {
		number = *seed
	}
	t.Logf("%d steps, -seed %d", steps, number)
	r := &relay{
		home: newHome(t), random: rand.New(rand.NewPCG(number, 0)), servers: map[string]*sourcetest.Repository{}, versions: map[string][]string{}, known: map[string]bool{},
		plain: plainRegistry(t), secure: secureRegistry(t),
	}
	r.env = append(r.env, "GOGC=off", "GOMAXPROCS=1") // short runs, a thousand of them
	for _, name := range []string{"a", "b", "c"} {
		o := sourcetest.Options{}
		if name == "b" {
			o.User, o.Password = "u", "p"
		}
		r.servers[name] = sourcetest.Serve(t, o)
		r.publish(name)
	}
	r.chartFile("inner", "1.0.0", "")
	r.ok("push", "inner-1.0.0.tgz", "oci://"+r.secure.Host+"/charts", "--username", "u", "--password", "p", "--ca-file", r.secure.CAFile)
	kinds := []func(){r.add, r.add, r.remove, r.update, r.render, r.pull, r.dependencies, r.dependencies, r.dependencies, r.pushed, r.indexed, r.logIn}
	for range steps {
		kinds[r.random.IntN(len(kinds))]()
		if t.Failed() {
			t.Fatalf("-seed %d; after\n%s", number, strings.Join(r.done, "\n"))
		}
	}
}

// tools are what the steps are run with.
var tools = []string{"helm3", "helm4", "us"}

// anyTool returns a random one of them.
func (r *relay) anyTool() string { return tools[r.random.IntN(len(tools))] }

// by runs a tool.
func (r *relay) by(tool string, args ...string) result {
	r.t.Helper()
	b, err := binaries()
	must(r.t, err)
	path := map[string]string{"helm3": b.Helm3, "helm4": b.Helm4, "us": program(r.t)}[tool]
	r.done = append(r.done, tool+" "+strings.Join(args, " "))
	return r.run("", path, args...)
}

// does runs a tool, which has to succeed.
func (r *relay) does(tool string, args ...string) result {
	r.t.Helper()
	out := r.by(tool, args...)
	if out.code != 0 {
		r.t.Errorf("%s %s: exit code %d\n%s", tool, strings.Join(args, " "), out.code, out.err)
	}
	return out
}

// agree runs all tools, which have to print the same.
func (r *relay) agree(args ...string) string {
	r.t.Helper()
	first := ""
	for _, tool := range tools {
		// Helm 3 and Helm 4 have empty lines in different places.
		out := strings.TrimSpace(emptyLines.ReplaceAllString(r.does(tool, args...).out, "\n"))
		if first == "" {
			first = out
		}
		if out != first || out == "" {
			r.t.Errorf("%s says of %q\n%s\nand %s\n%s", tool, args, out, tools[0], first)
		}
	}
	return first
}

var emptyLines = regexp.MustCompile(`\n\s*\n`)

// subchart returns the name of the chart on a server that others depend on: Helm tells charts of one
// name apart only by their versions, so each server's has a name of its own.
func subchart(server string) string { return "sub" + server }

// publish gives a server one more version of its charts.
func (r *relay) publish(name string) {
	r.versions[name] = append(r.versions[name], fmt.Sprintf("1.%d.0", len(r.versions[name])))
	r.servers[name].Publish(r.t, map[string][]string{"alpha": r.versions[name], subchart(name): r.versions[name]})
	r.done = append(r.done, "# "+name+" has "+r.newest(name))
}

func (r *relay) newest(name string) string { return r.versions[name][len(r.versions[name])-1] }

func (r *relay) anyServer() string { return []string{"a", "b", "c"}[r.random.IntN(3)] }

// anyKnown returns a random repository that is configured; if there is none, it adds one.
func (r *relay) anyKnown() string {
	if len(r.known) == 0 {
		r.add()
	}
	names := slices.Sorted(maps.Keys(r.known))
	return names[r.random.IntN(len(names))]
}

func (r *relay) add() { r.addTo(r.anyServer()) }

func (r *relay) addTo(name string) {
	args := []string{"repo", "add", name, r.servers[name].URL}
	if name == "b" {
		args = append(args, "--username", "u", "--password", "p")
	}
	r.does(r.anyTool(), args...)
	r.known[name] = true
	r.listed()
}

func (r *relay) remove() {
	name := r.anyKnown()
	r.does(r.anyTool(), "repo", "remove", name)
	delete(r.known, name)
	r.listed()
}

// listed checks that all tools know the same repositories.
func (r *relay) listed() {
	want := map[string]string{}
	for name := range r.known {
		want[name] = r.servers[name].URL
	}
	for _, tool := range tools {
		if tool == "helm3" && len(want) == 0 {
			continue // it says in words that there are none
		}
		var rows []struct{ Name, URL string }
		must(r.t, yaml.Unmarshal([]byte(r.does(tool, "repo", "list", "-o", "json").out), &rows))
		got := map[string]string{}
		for _, row := range rows {
			got[row.Name] = row.URL
		}
		if !maps.Equal(got, want) {
			r.t.Errorf("%s knows %v, want %v", tool, got, want)
		}
	}
}

// update fetches indexes, after which all tools find what is new.
func (r *relay) update() {
	name := r.anyKnown()
	r.publish(name)
	r.does(r.anyTool(), "repo", "update")
	if out := r.agree("template", "web", name+"/alpha"); !strings.Contains(out, `version: "`+r.newest(name)+`"`) {
		r.t.Errorf("%s is not there:\n%s", r.newest(name), out)
	}
}

// render takes versions that every index has.
func (r *relay) render() {
	name := r.anyKnown()
	r.agree("template", "web", name+"/alpha", "--version", "1.0.0")
	r.agree("template", "web", name+"/alpha", "--version", "<2")
}

// pull fetches exactly what the server has.
func (r *relay) pull() {
	name := r.anyKnown()
	must(r.t, os.RemoveAll(r.path("pulled")))
	must(r.t, os.MkdirAll(r.path("pulled"), 0o755))
	r.does(r.anyTool(), "pull", name+"/alpha", "--version", "1.0.0", "-d", "pulled")
	if r.t.Failed() || r.read("pulled/alpha-1.0.0.tgz") != string(r.servers[name].File("/alpha-1.0.0.tgz")) {
		r.t.Errorf("other bytes of %s", name)
	}
}

// dependencies locks with one tool, builds from the lock with another, packages with a third, and has
// all of them render the folder and the package.
func (r *relay) dependencies() {
	var declared []string
	want := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		if r.random.IntN(3) == 0 && name != "a" {
			continue
		}
		if !r.known[name] {
			r.addTo(name) // otherwise Helm would not build
		}
		version := []string{"*", "^1", ">=1.0.0 <2.0.0", "1.0.0"}[r.random.IntN(4)]
		repository := r.servers[name].URL
		if r.random.IntN(2) == 0 {
			repository = "'@" + name + "'"
		}
		chart := subchart(name)
		declared = append(declared, "{name: "+chart+", version: '"+version+"', repository: "+repository+", alias: dep"+name+"}")
		want[chart] = r.newest(name)
		if version == "1.0.0" {
			want[chart] = version
		}
	}
	r.made++
	version := fmt.Sprintf("0.%d.0", r.made)
	r.write("um/Chart.yaml", "apiVersion: v2\nname: um\nversion: "+version+"\ndependencies:\n- "+strings.Join(declared, "\n- ")+"\n")
	r.write("um/templates/cm.yaml", "a: {{ .Chart.Version | quote }}\n")
	r.does(r.anyTool(), "dependency", "update", "um")
	r.locked(want)
	if r.random.IntN(2) == 0 {
		must(r.t, os.RemoveAll(r.path("um/charts")))
		r.done = append(r.done, "# charts/ is gone")
	}
	before := r.read("um/Chart.lock")
	r.does(r.anyTool(), "dependency", "build", "um")
	if r.read("um/Chart.lock") != before {
		r.t.Error("build has changed the lock")
	}
	folder := r.agree("template", "web", "um")
	must(r.t, os.MkdirAll(r.path("dist"), 0o755))
	r.does(r.anyTool(), "package", "um", "-d", "dist")
	if packed := r.agree("template", "web", "dist/um-"+version+".tgz"); packed != folder {
		r.t.Errorf("the folder renders\n%s\nand the package\n%s", folder, packed)
	}
}

// locked checks the versions in the lock.
func (r *relay) locked(want map[string]string) {
	var lock struct {
		Dependencies []struct{ Name, Version string }
	}
	must(r.t, yaml.Unmarshal([]byte(r.read("um/Chart.lock")), &lock))
	got := map[string]string{}
	for _, d := range lock.Dependencies {
		got[d.Name] = d.Version
	}
	if !maps.Equal(got, want) {
		r.t.Errorf("locked are %v, want %v", got, want)
	}
}

// packages returns the packages made so far.
func (r *relay) packages() []string {
	found, err := filepath.Glob(r.path("dist", "*.tgz"))
	must(r.t, err)
	return found
}

// pushed pushes a package to a registry with one tool, and has others use it.
func (r *relay) pushed() {
	if r.made == 0 {
		r.dependencies()
	}
	all := r.packages()
	file := all[r.random.IntN(len(all))]
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "um-"), ".tgz")
	r.does(r.anyTool(), "push", file, "oci://"+r.plain.Host+"/charts", "--plain-http")
	ref := "oci://" + r.plain.Host + "/charts/um"
	must(r.t, os.RemoveAll(r.path("pulled")))
	must(r.t, os.MkdirAll(r.path("pulled"), 0o755))
	r.does(r.anyTool(), "pull", ref, "--version", version, "-d", "pulled", "--plain-http")
	data, err := os.ReadFile(file)
	must(r.t, err)
	if r.t.Failed() || r.read("pulled/um-"+version+".tgz") != string(data) {
		r.t.Errorf("other bytes of %s", file)
	}
	r.agree("template", "web", ref, "--version", version, "--plain-http")
	r.agree("template", "web", ref, "--plain-http")
}

// indexed makes an index of the packages with one tool, and has another merge it.
func (r *relay) indexed() {
	if r.made == 0 {
		r.dependencies()
	}
	r.does(r.anyTool(), "repo", "index", "dist", "--url", "https://charts.example.com")
	r.does(r.anyTool(), "repo", "index", "dist", "--url", "https://charts.example.com", "--merge", "dist/index.yaml")
	var index struct {
		Entries map[string][]struct{ Version, Digest string }
	}
	must(r.t, yaml.Unmarshal([]byte(r.read("dist/index.yaml")), &index))
	got, want := map[string]string{}, map[string]string{}
	for _, e := range index.Entries["um"] {
		got[e.Version] = e.Digest
	}
	for _, file := range r.packages() {
		data, err := os.ReadFile(file)
		must(r.t, err)
		want[strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "um-"), ".tgz")] = sourcetest.Digest(data)
	}
	if !maps.Equal(got, want) {
		r.t.Errorf("the index has %v, want %v", got, want)
	}
}

// logIn stores credentials with one tool; the others use them until one of them logs out.
func (r *relay) logIn() {
	pull := func() result {
		must(r.t, os.RemoveAll(r.path("pulled")))
		must(r.t, os.MkdirAll(r.path("pulled"), 0o755))
		return r.by(r.anyTool(), "pull", "oci://"+r.secure.Host+"/charts/inner", "--version", "1.0.0", "-d", "pulled", "--ca-file", r.secure.CAFile)
	}
	r.does(r.anyTool(), "registry", "login", r.secure.Host, "-u", "u", "-p", "p", "--ca-file", r.secure.CAFile)
	if got := pull(); got.code != 0 || !r.exists("pulled/inner-1.0.0.tgz") {
		r.t.Errorf("after a login: %+v", got)
	}
	r.does(r.anyTool(), "registry", "logout", r.secure.Host)
	if got := pull(); got.code == 0 {
		r.t.Error("pulled after a logout")
	}
}
