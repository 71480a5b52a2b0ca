//go:build cluster

package e2e

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// TestPredictions checks that plans come true: it carries out every file in
// testdata/upgrades client-side or server-side, in a soak both, and compares what the plan
// said with what is in the cluster afterwards (see outcome). A file's first
// line says why it exists; its sections are
//
//	old/F, new/F, NAME/F  templates of versions 1 and 2 of the chart, and of other charts;
//	                      values.yaml and crds/F keep their paths
//	outside               commands run between the install of old and the plan of new: kubectl,
//	                      kubectl-release, helm3 and helm4;
//	                      ! before one that must fail, ' around an argument with spaces
//	flags                 flags of the plan
//	modes                 pairs of client or server for old and new, one per line; if absent,
//	                      "client client" and "server server"
//	plan                  the expected plan in short, or plan.OLD-NEW where it depends on the mode
//
// $NS and $WORK stand for the namespace and the folder with the charts. Without
// old/ nothing is installed first.
func TestPredictions(t *testing.T) {
	t.Parallel()
	clustertest.Program(t)
	observer := newObserver(t)
	objecttest.Cases(t, filepath.Join("testdata", "upgrades", "*.txtar"), 40, func(t *testing.T, path string, archive *txtar.Archive) {
		t.Parallel()
		modes := modesOf(path, archive)
		told := make([]string, len(modes))
		t.Run("", func(t *testing.T) {
			for i, mode := range modes {
				t.Run(mode, func(t *testing.T) {
					t.Parallel()
					u := newUpgrade(t, archive, mode, observer)
					told[i] = u.carryOut()
					if want := u.expected(); !*update && want != told[i] {
						t.Errorf("the plan differs (-want +got):\n%s\n%s", cmp.Diff(want, told[i]), told[i])
					}
				})
			}
		})
		if *update && !slices.Contains(told, "") {
			rewrite(t, path, archive, modes, told)
		}
	})
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// modesOf returns the pairs of modes that a file is for, such as "client-server". A file that
// names none is for both ways of applying: make test picks one of them by the file's name,
// unless their plans differ.
func modesOf(path string, a *txtar.Archive) []string {
	given := section(a, "modes")
	if given == "" {
		both := []string{"client-client", "server-server"}
		if *soak || *update || section(a, "plan") == "" {
			return both
		}
		i := crc32.ChecksumIEEE([]byte(filepath.Base(path))) % 2
		return both[i : i+1]
	}
	var modes []string
	for line := range strings.Lines(given) {
		modes = append(modes, strings.Join(strings.Fields(line), "-"))
	}
	return modes
}

// upgrade is one file in one mode.
type upgrade struct {
	witness
	archive *txtar.Archive
	mode    string
	work    string
	// variables expands $NS and $WORK.
	variables *strings.Replacer
}

func newUpgrade(t *testing.T, a *txtar.Archive, mode string, o *observer) *upgrade {
	w := witness{observer: o, t: t, namespace: cluster.Namespace(t), release: "web"}
	u := &upgrade{witness: w, archive: a, mode: mode, work: t.TempDir()}
	u.variables = strings.NewReplacer("$NS", u.namespace, "$WORK", u.work)
	u.write()
	return u
}

// write puts the charts into the folder.
func (u *upgrade) write() {
	for _, f := range u.archive.Files {
		chart, name, isFile := strings.Cut(f.Name, "/")
		if !isFile {
			continue
		}
		if name != "values.yaml" && !strings.HasPrefix(name, "crds/") {
			name = "templates/" + name
		}
		version := "1.0.0"
		if chart == "new" {
			version = "2.0.0"
		}
		clustertest.WriteFiles(u.t, filepath.Join(u.work, chart), map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: shop\nversion: " + version + "\n",
			name:         u.variables.Replace(string(f.Data)),
		})
	}
}

// carryOut carries out the upgrade and returns its plan in short.
func (u *upgrade) carryOut() string {
	if _, err := os.Stat(filepath.Join(u.work, "old")); err == nil {
		u.must("kubectl-release", "install", "web", filepath.Join(u.work, "old"), u.serverSide(0))
	}
	before := u.settled()
	if u.outside() {
		before = u.settled()
	}
	p := u.plan()
	if p.Blocked() {
		u.blocked(before)
	} else {
		u.carriedOut(u.saved(), before)
	}
	return u.short(p)
}

func (u *upgrade) serverSide(half int) string {
	if strings.Split(u.mode, "-")[half] == "server" {
		return "--server-side=true"
	}
	return "--server-side=false"
}

func (u *upgrade) saved() string { return filepath.Join(u.work, "web.plan") }

// wanted are the arguments of the upgrade.
func (u *upgrade) wanted() []string {
	args := []string{"web", filepath.Join(u.work, "new"), u.serverSide(1)}
	return append(args, words(u.variables.Replace(section(u.archive, "flags")))...)
}

// plan makes the plan of the upgrade and saves it, unless it is blocked.
func (u *upgrade) plan() *plan.Plan {
	args := append([]string{"plan", "-o", "json", "--show-secrets", "--out", u.saved()}, u.wanted()...)
	r := u.run("kubectl-release", args...)
	var p plan.Plan
	if err := json.Unmarshal([]byte(r.Stdout), &p); err != nil {
		u.t.Fatalf("exit code %d, %v\n%s%s", r.ExitCode, err, r.Stdout, r.Stderr)
	}
	return &p
}

// outside does what others do between the two versions, and reports whether there was anything to do.
func (u *upgrade) outside() (something bool) {
	for line := range strings.Lines(u.variables.Replace(section(u.archive, "outside"))) {
		line, fails := strings.CutPrefix(strings.TrimSpace(line), "! ")
		args := words(line)
		if len(args) == 0 {
			continue
		}
		something = true
		if result := u.run(args[0], args[1:]...); (result.ExitCode != 0) != fails {
			u.t.Fatalf("%s: exit code %d\n%s%s", line, result.ExitCode, result.Stdout, result.Stderr)
		}
	}
	return something
}

// blocked checks that a plan that can't be applied leaves no trace.
func (u *upgrade) blocked(before map[string]object) {
	records := func() string { // snapshot has neither these nor locks
		return u.must("kubectl", "get", "secrets,leases", "-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`).Stdout
	}
	were := records()
	if r := u.run("kubectl-release", append([]string{"upgrade", "--install"}, u.wanted()...)...); r.ExitCode != 1 {
		u.t.Errorf("the plan is blocked and its upgrade ends with exit code %d\n%s%s", r.ExitCode, r.Stdout, r.Stderr)
	}
	u.unchanged(before, u.snapshot())
	if are := records(); are != were {
		u.t.Errorf("the records were\n%s\nand are\n%s", were, are)
	}
}

// expected returns the plan in short as the file has it.
func (u *upgrade) expected() string {
	if own := section(u.archive, "plan."+u.mode); own != "" {
		return own
	}
	return section(u.archive, "plan")
}

// rewrite writes the plans into the file: only one if they are the same.
func rewrite(t *testing.T, path string, a *txtar.Archive, modes, told []string) {
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "plan") })
	for i, mode := range modes {
		if len(slices.Compact(slices.Clone(told))) == 1 {
			a.Files = append(a.Files, txtar.File{Name: "plan", Data: []byte(told[0])})
			break
		}
		a.Files = append(a.Files, txtar.File{Name: "plan." + mode, Data: []byte(told[i])})
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// words splits a command line at spaces that are not between single quotes.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// short returns a plan in a few lines: its problems, and each step's op, object and changes.
func (u *upgrade) short(p *plan.Plan) string {
	var b strings.Builder
	for _, problem := range p.Problems {
		mark := "?"
		if problem.Blocking {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", mark, problem.Object, problem.What)
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpRecord || s.Op == plan.OpWait {
			return
		}
		fmt.Fprintf(&b, "%s %s", s.Op, s.Object)
		if s.Writes() && s.Fidelity != plan.FidelityExact {
			fmt.Fprintf(&b, ", %s", s.Fidelity)
		}
		b.WriteByte('\n')
		for _, c := range s.Changes {
			line := fmt.Sprintf("  %s %s → %s  %s %s", c.Path, fromJSON(c.From), fromJSON(c.To), c.Cause, written.ReplaceAllString(c.Detail, ""))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	})
	return allocated.ReplaceAllString(strings.ReplaceAll(b.String(), u.namespace, "$NS"), "ALLOCATED")
}

// written matches how long ago somebody wrote a field.
var written = regexp.MustCompile(` \d+s ago$`)

// allocated matches addresses and ports that the API server has allocated to Services.
var allocated = regexp.MustCompile(`"10\.96\.\d+\.\d+"|\b3[0-2]\d{3}\b`)
