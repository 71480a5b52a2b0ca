//go:build cluster

package hostile

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// hostile is input that was made to do harm. Chart contains the files of a folder,
// or Archive the entries of a chart archive; Args are flags, and Values is a file for -f.
type hostile struct {
	Chart   map[string]string
	Archive []entry
	Args    []string
	Values  string
	// Names is the file or flag that the message must name, Says a part of the message.
	Names, Says string
	// Steps says that its template takes as many steps as it may, Keys that it generates keys: there are
	// separate time limits for both.
	Steps, Keys bool
}

// Limits on hostile input.
const (
	hostileTime = 2 * time.Second
	// hostileSteps is for 30 million steps, some of which take 0.3 µs: templates of real charts take them, too.
	hostileSteps = 9 * time.Second
	// hostileKeys is for a chart that generates as many keys as it may: ten seconds on
	// average, but now and then a key takes three times as long as another.
	hostileKeys   = 20 * time.Second
	hostileMemory = 256 << 20
)

// pace is measured once, before the cases.
var pace = sync.OnceValue(clustertest.Pace)

// soak also runs what takes minutes of CPU time.
var soak = flag.Bool("soak", false, "make as many keys as may be made, of every kind")

// TestMain lets the suite measure the program.
func TestMain(m *testing.M) { os.Exit(clustertest.MainWithoutCluster(m)) }

// TestHostile gives the program, as users have it, every case of hostile
// input: it ends in time, takes little memory, and exits as refused allows, with a
// message that names the file, if the case names one, and contains nothing that
// controls the terminal.
func TestHostile(t *testing.T) {
	program := clustertest.Program(t)
	pace()
	for group, cases := range map[string]map[string]hostile{
		"archive": hostileArchives(), "yaml": hostileYAML(), "metadata": hostileMetadata(), "schema": hostileSchemas(),
		"flag": hostileFlags(), "values": hostileValues(), "template": hostileTemplates(), "output": hostileOutput(), "growth": hostileGrowth(), "effort": hostileEffort(), "keys": hostileKeyMaking(),
	} {
		for name, c := range cases {
			t.Run(group+"/"+name, func(t *testing.T) {
				t.Parallel()
				c.run(t, program)
			})
		}
	}
}

func (c hostile) run(t *testing.T, program string) {
	limit := hostileTime
	switch {
	case c.Steps:
		limit = hostileSteps
	case c.Keys:
		limit = hostileKeys
	}
	args := append([]string{"template", "web", c.write(t)}, c.Args...)
	if c.Values != "" {
		dir := t.TempDir()
		clustertest.WriteFiles(t, dir, map[string]string{"values.yaml": c.Values})
		args = append(args, "-f", filepath.Join(dir, "values.yaml"))
	}
	// docs/limits.md has the limits as measured when nothing else runs.
	c.refused(t, time.Duration(2*pace()*float64(limit)), os.Environ(), program, args...)
}

// refused runs the program, which must refuse the input with a message, within this much CPU
// time.
func (c hostile) refused(t *testing.T, most time.Duration, env []string, program string, args ...string) {
	t.Helper()
	u := clustertest.MeasureWithin(t, clustertest.Limits{CPU: most, MaxRSS: hostileMemory}, env, program, args...)
	// 8, 10, 11 and 12 stand for other bytes than were promised, a server's 404 and 403, and a lock that is
	// out of sync: docs/exit-codes.md.
	if !slices.Contains([]int{1, 8, 10, 11, 12}, u.ExitCode) {
		t.Errorf("exit code %d, want 1, 8, 10, 11 or 12", u.ExitCode)
	}
	if !strings.HasPrefix(u.Stderr, "Error: ") && !strings.Contains(u.Stderr, "\nError: ") {
		t.Errorf("no error but %.2000s", u.Stderr)
	}
	for _, part := range []string{c.Names, c.Says} {
		if !strings.Contains(u.Stderr, part) {
			t.Errorf("the message lacks %q: %.2000s", part, u.Stderr)
		}
	}
	if strings.Count("\n"+u.Stderr, "\nError: ") > 1 {
		t.Errorf("more than one message: %.2000s", u.Stderr)
	}
	for _, panicked := range []string{"goroutine ", "panic:"} {
		if strings.Contains(u.Stderr, panicked) {
			t.Errorf("a panic: %.2000s", u.Stderr)
		}
	}
	if at := strings.IndexFunc(u.Stderr+u.Stdout, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); at >= 0 {
		t.Errorf("a control character gets out: %.2000q", u.Stderr+u.Stdout)
	}
}

// write writes the chart to one of the test's folders and returns its path.
func (c hostile) write(t *testing.T) string {
	if c.Archive != nil {
		path := filepath.Join(t.TempDir(), "web.tgz")
		if err := os.WriteFile(path, packed(t, c.Archive), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dir := filepath.Join(t.TempDir(), "web")
	clustertest.WriteFiles(t, dir, map[string]string{"Chart.yaml": plainChart})
	clustertest.WriteFiles(t, dir, c.Chart)
	return dir
}

const plainChart = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

// rename returns plainChart with another name.
func rename(name string) string { return strings.Replace(plainChart, "web", name, 1) }

// template returns a chart with one template.
func template(text string) map[string]string { return map[string]string{"templates/x.yaml": text} }

// aliasBomb returns a document whose aliases multiply to a billion items.
func aliasBomb() string {
	text := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		text += fmt.Sprintf("%c: &%c [%s]\n", 'b'+i, 'b'+i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 10), ","))
	}
	return text
}
