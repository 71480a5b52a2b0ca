//go:build cluster

package trust

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestCrowds has many runs work at the same time: on one release, on many releases in one
// namespace, and on a release whose lock holder sleeps past its lease, with another run that takes over, and without.
func TestCrowds(t *testing.T) {
	told := &telling{lines: map[string]string{}}
	clustertest.Program(t)
	onMachine(t, time.Minute)
	// Most of them spend most of their time waiting, so they run side by side, however few
	// processors there are.
	var group sync.WaitGroup
	side := func(order, name string, play func(*testing.T) string) {
		group.Go(func() { t.Run(name, func(t *testing.T) { told.tell(order, play(t)) }) })
	}
	for i, p := range pauses {
		slow, fast := p, p
		slow.ahead, fast.ahead = -5*time.Minute, 5*time.Minute
		slow.name += ", its clock 5 minutes slow"
		fast.name += ", its clock 5 minutes fast"
		for which, p := range []pause{p, slow, fast} {
			if *soak || which == i%3 {
				side(fmt.Sprintf("4%d%d", i, which), "a holder "+p.name, p.play)
			}
		}
	}
	for i, p := range []pause{pauses[0], pauses[3]} {
		side(fmt.Sprintf("5%d", i), "alone, a holder "+p.name, p.outlasts)
	}
	side("10", "upgrades", func(t *testing.T) string { return manyUpgrades(t, 0) })
	side("20", "upgrades that queue", func(t *testing.T) string { return manyThatQueue(t, 0) })
	side("30", "releases", manyReleases)
	group.Wait()
	side("11", "upgrades, clocks apart", func(t *testing.T) string { return manyUpgrades(t, 24*time.Second) })
	side("21", "upgrades that queue, clocks apart", func(t *testing.T) string { return manyThatQueue(t, 24*time.Second) })
	group.Wait()
	if *soak && !t.Failed() {
		report(t, "crowds", "| crowd | what came of it |\n|---|---|\n"+told.text())
	}
}

// telling collects lines of the report from tests that run side by side.
type telling struct {
	mu    sync.Mutex
	lines map[string]string
}

func (c *telling) tell(order, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines[order] = line
}

func (c *telling) text() string {
	var b strings.Builder
	for _, order := range slices.Sorted(maps.Keys(c.lines)) {
		b.WriteString("| " + c.lines[order] + " |\n")
	}
	return b.String()
}

// webChart is the chart that crowds use.
var webChart = filepath.Join("..", "..", "testdata", "charts", "web")

// atOnce runs our program with each of the argument lists, all at the same time. Each
// run's clock is ahead of the previous one's by apart, and the clocks are spread evenly
// around the real time.
func atOnce(t *testing.T, apart time.Duration, lists [][]string) []clustertest.Result {
	t.Helper()
	results := make([]clustertest.Result, len(lists))
	start := make(chan struct{})
	var group sync.WaitGroup
	for i, args := range lists {
		line := onMachine(t, time.Duration(2*i-len(lists)+1)*apart/2, args...)
		group.Go(func() {
			<-start
			results[i] = cluster.Run(t, line[0], "", line[1:]...)
		})
	}
	close(start)
	group.Wait()
	return results
}

// ours runs our program, which must end with exit code 0, and returns its standard output.
func ours(t *testing.T, args ...string) string {
	t.Helper()
	r := cluster.Run(t, clustertest.Program(t), "", args...)
	if r.ExitCode != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), r.ExitCode, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// crowdSize returns how many runs work on one release at the same time.
func crowdSize() int { return sample(6, 50) }

// upgrades returns the arguments of crowdSize upgrades of release web, each with a value of its own.
func upgrades(namespace string, flags ...string) [][]string {
	lists := make([][]string, crowdSize())
	for i := range lists {
		lists[i] = append([]string{"upgrade", "web", webChart, "--namespace", namespace, "--history-max", "0", "--set", "greeting=run-" + strconv.Itoa(i)}, flags...)
	}
	return lists
}

// whoHolds matches the message that tells the other runs who holds the lock.
var whoHolds = regexp.MustCompile(`is locked by \S+`)

// apartText describes how far the clocks are apart.
func apartText(apart time.Duration, many int) string {
	if apart == 0 {
		return ""
	}
	return fmt.Sprintf(", their clocks up to %.0f minutes apart", (time.Duration(many-1) * apart).Minutes())
}

func manyUpgrades(t *testing.T, apart time.Duration) string {
	namespace := cluster.Namespace(t)
	ours(t, "install", "web", webChart, "--namespace", namespace)
	began, many := time.Now(), crowdSize()
	done, told := 0, 0
	for i, r := range atOnce(t, apart, upgrades(namespace)) {
		switch {
		case r.ExitCode == 0:
			done++
		case r.ExitCode == 7 && whoHolds.MatchString(r.Stderr):
			told++
		default:
			t.Errorf("run %d: exit code %d\n%s", i, r.ExitCode, r.Stderr)
		}
	}
	took := time.Since(began)
	if done == 0 || told == 0 {
		t.Errorf("%d were done and %d told who holds the lock, want some of each", done, told)
	}
	sound(t, namespace, "web", done+1)
	return fmt.Sprintf("%d upgrades of one release at once%s, %s | done, one after the other: %d; ended with exit code 7 and said who holds the lock: %d; the history has %d revisions without a gap, one deployed, and the cluster holds its manifest",
		many, apartText(apart, many), took.Round(time.Second), done, told, done+1)
}

func manyThatQueue(t *testing.T, apart time.Duration) string {
	namespace := cluster.Namespace(t)
	ours(t, "install", "web", webChart, "--namespace", namespace)
	began, many := time.Now(), crowdSize()
	for i, r := range atOnce(t, apart, upgrades(namespace, "--lock-timeout", "5m")) {
		if r.ExitCode != 0 {
			t.Errorf("run %d: exit code %d\n%s", i, r.ExitCode, r.Stderr)
		}
	}
	took := time.Since(began)
	sound(t, namespace, "web", many+1)
	return fmt.Sprintf("%d upgrades of one release at once with --lock-timeout 5m%s, %s | all were done, one after the other; %d revisions without a gap, one deployed, and the cluster holds its manifest",
		many, apartText(apart, many), took.Round(time.Second), many+1)
}

// sound checks that a release has this many revisions without gaps, of which only the
// newest is deployed and the others are superseded, that the cluster matches its
// manifest, and that no lock is left.
func sound(t *testing.T, namespace, release string, revisions int) {
	t.Helper()
	history := rows(t, ours(t, "history", release, "--namespace", namespace, "-o", "json"))
	if len(history) != revisions {
		t.Errorf("%s has %d revisions, want %d", release, len(history), revisions)
	}
	for i, r := range history {
		want := "superseded"
		if i == len(history)-1 {
			want = "deployed"
		}
		if r.Revision != i+1 || r.Status != want {
			t.Errorf("%s has revision %d %s, want %d %s", release, r.Revision, r.Status, i+1, want)
		}
	}
	l := newLook(t, namespace)
	held := l.holds(t)
	for _, d := range l.exactly(t, release, ours(t, "get", "manifest", release, "--namespace", namespace), held, anything) {
		t.Errorf("%s: %s", release, d)
	}
	for name := range held {
		if strings.HasPrefix(name, "Lease/") && strings.HasSuffix(name, "."+release) {
			t.Errorf("%s is left", name)
		}
	}
}

func manyReleases(t *testing.T) string {
	namespace := cluster.Namespace(t)
	began := time.Now()
	ours(t, "install", "alone", webChart, "--namespace", namespace)
	alone := time.Since(began)
	many := sample(4, 20)
	var took [2]time.Duration
	for round, command := range []string{"install", "upgrade"} {
		lists := make([][]string, many)
		for i := range lists {
			name := fmt.Sprintf("r%02d", i)
			lists[i] = []string{command, name, webChart, "--namespace", namespace, "--set", fmt.Sprintf("greeting=%s-%s", command, name)}
		}
		began := time.Now()
		for i, r := range atOnce(t, 0, lists) {
			if r.ExitCode != 0 {
				t.Errorf("%s: exit code %d\n%s", strings.Join(lists[i], " "), r.ExitCode, r.Stderr)
			}
		}
		took[round] = time.Since(began)
	}
	var list []struct{ Name, Revision, Status string }
	if err := json.Unmarshal([]byte(ours(t, "list", "--namespace", namespace, "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != many+1 {
		t.Errorf("list tells of %d releases, want %d", len(list), many+1)
	}
	held, objects := newLook(t, namespace).holds(t), 0
	for _, r := range list {
		objects += len(objectsOf(t, ours(t, "get", "manifest", r.Name, "--namespace", namespace)))
		if r.Name == "alone" {
			continue
		}
		if r.Status != "deployed" || r.Revision != "2" {
			t.Errorf("%s is revision %s, %s", r.Name, r.Revision, r.Status)
		}
		sound(t, namespace, r.Name, 2)
		settings := held["ConfigMap/"+r.Name+"-settings"]
		if settings == nil || fmt.Sprint(settings.Object["data"]) != "map[greeting:upgrade-"+r.Name+"]" {
			t.Errorf("%s holds %v", r.Name, settings)
		}
	}
	if len(held) != objects {
		t.Errorf("the namespace holds %d objects, the manifests have %d", len(held), objects)
	}
	return fmt.Sprintf("%d releases in one namespace at once, then an upgrade of each | all were done: %.1f s and %.1f s, where one install alone took %.1f s; `list` and the cluster hold all of them, each with its own values",
		many, took[0].Seconds(), took[1].Seconds(), alone.Seconds())
}

// program returns our program as on a machine whose clock is ahead, ready to be started.
func program(t *testing.T, ahead time.Duration, args ...string) *exec.Cmd {
	t.Helper()
	line := onMachine(t, ahead, args...)
	c := exec.Command(line[0], line[1:]...)
	c.Env = cluster.Environment()
	return c
}
