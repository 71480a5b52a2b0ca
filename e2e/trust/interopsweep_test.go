//go:build cluster

package trust

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var seedFlag = flag.Uint64("seed", 0, "run only the sequence, or the faults, of this seed")

// TestInteropSweep plays random sequences of installs, upgrades, rollbacks and
// uninstalls by us, Helm 3 and Helm 4 in turn on one release. After each move all
// three must report the same about it; after a move of ours the cluster matches
// the manifest exactly. Deviations that Helm leaves are counted, and must be gone
// after our next move.
func TestInteropSweep(t *testing.T) {
	cluster.Apply(t, "default", widgetCRD)
	programs := hands(t)
	seeds := make([]uint64, sample(2, 200))
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	if *seedFlag != 0 {
		seeds = []uint64{*seedFlag}
	}
	seen := &sightings{moves: map[string]int{}, ends: map[string]int{}, notes: map[string]*note{}}
	began := time.Now()
	queue := make(chan uint64)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for seed := range queue {
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { newSequence(t, seed, programs, seen).play(t) })
			}
		})
	}
	played := 0
	for _, seed := range seeds {
		if end, bounded := t.Deadline(); bounded && time.Until(end) < lastSequences {
			break // the table says how many there were
		}
		queue <- seed
		played++
	}
	close(queue)
	group.Wait()
	table := seen.table(played, len(seeds), time.Since(began))
	if t.Failed() || *seedFlag != 0 {
		t.Log(table)
		return
	}
	report(t, "interop sweep", table)
}

// lastSequences is how long before go test's -timeout the last sequence may begin.
const lastSequences = 2 * time.Minute

const widgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.interop.example.com}
spec:
  group: interop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// sequence is one release that the three programs work on in turn.
type sequence struct {
	seed      uint64
	release   string
	namespace string
	folder    string
	charts    int // the number of charts written
	hands     []hand
	rng       *rand.Rand
	chart     *chartModel
	look      look
	seen      *sightings
	// brokenAt says how the chart of a revision is broken.
	brokenAt map[int]string
	// touched says whether we have worked on the release since it was installed.
	touched bool
	// apart says whether Helm has left the cluster different from its manifest.
	apart bool
	// left are the deviations from their manifests that Helm's moves have left.
	left map[string]bool
	// lost are the remains that Helm has left of a release whose records are gone.
	lost map[string]bool
	log  []string
}

func newSequence(t *testing.T, seed uint64, programs []hand, seen *sightings) *sequence {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	namespace := cluster.Namespace(t)
	return &sequence{
		seed: seed, release: "r", namespace: namespace, folder: t.TempDir(), hands: programs, rng: rng,
		chart: newChartModel(rng), look: newLook(t, namespace), seen: seen, brokenAt: map[int]string{}, left: map[string]bool{}, lost: map[string]bool{},
	}
}

// movesOfSequence is the number of moves in a sequence.
const movesOfSequence = 7

func (s *sequence) play(t *testing.T) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("go test -tags cluster -run TestInteropSweep ./e2e/trust -seed %d\n%s", s.seed, strings.Join(s.log, "\n"))
		}
	}()
	var now answers
	for range movesOfSequence {
		m := s.next(t, now)
		before := s.look.holds(t)
		began := time.Now()
		r := cluster.Run(t, m.hand.program, "", m.args...)
		took := time.Since(began)
		after := s.agreed(t)
		end := ending(m, r.ExitCode, now, after)
		s.log = append(s.log, fmt.Sprintf("%s\n  exit code %d, %s, %s: %v", m, r.ExitCode, took.Round(time.Millisecond), end, after.History))
		if r.ExitCode != 0 {
			s.log = append(s.log, "  "+strings.ReplaceAll(strings.TrimSpace(r.Stderr), "\n", "\n  "))
		}
		s.seen.count(m, end)
		s.remember(m, now, after)
		if m.hand.name == "ours" {
			s.checkOurs(t, m, end, before, now, after)
		} else {
			s.watchHelm(t, m, end, r.Stderr, now, after)
		}
		s.settled(t, after)
		if t.Failed() {
			return
		}
		now = after
	}
}

// settled checks that our plan for what is deployed finds nothing to do, whoever
// deployed it, provided that the cluster matches its manifest exactly.
func (s *sequence) settled(t *testing.T, now answers) {
	t.Helper()
	last := lastOf(now.History)
	if last.Status != "deployed" || s.apart {
		return
	}
	plan := ours(t, "plan", "rollback", s.release, strconv.Itoa(last.Revision), "--no-hooks", "--namespace", s.namespace)
	if !strings.Contains(plan, "No object changes") && !strings.Contains(plan, "No changes.") {
		t.Errorf("a plan of what is deployed finds something to do:\n%s", plan)
	}
}

// remember notes how the charts of new revisions are broken.
func (s *sequence) remember(m move, before, after answers) {
	for _, r := range after.History {
		if r.Revision <= lastOf(before.History).Revision {
			continue
		}
		var from int
		if _, err := fmt.Sscanf(r.Description, "Rollback to %d", &from); err == nil {
			s.brokenAt[r.Revision] = s.brokenAt[from]
			continue
		}
		s.brokenAt[r.Revision] = s.goal(m, before).broken
	}
	if len(after.History) == 0 {
		clear(s.brokenAt)
	}
}

// checkOurs applies every check to a move of ours.
func (s *sequence) checkOurs(t *testing.T, m move, end string, before holding, now, after answers) {
	t.Helper()
	if want := s.expected(m, now); end != want && want != "any" {
		t.Errorf("%s ended as %q, want %q", m, end, want)
	}
	if len(now.History) == 0 {
		s.touched = false
	}
	if end != endRefused && end != endFailed { // a move that failed may have had no effect
		s.touched = true
	}
	held := s.look.holds(t)
	wasApart := s.apart
	var differences []string
	switch {
	case end == endRefused, end == endFailed && s.goal(m, now).broken == brokenHook:
		differences = holdingsApart(before, held)
	default:
		manifest := after.Manifest
		if status := lastOf(after.History).Status; status == "" || status == "uninstalled" {
			manifest = ""
		}
		differences = s.look.exactly(t, s.release, manifest, held, allowed(end, before))
		s.apart = false
		s.stillLost(differences)
		differences = slices.DeleteFunc(differences, func(d string) bool {
			if s.lost[d] {
				s.seen.note("ours", "could not know of an object that Helm's uninstall had left: its records are gone", s, m)
				return true
			}
			if !s.left[d] || !orphaned(held, d) {
				return false
			}
			s.seen.note("ours", "could not know that a Secret's key which nobody owns was stringData of an earlier revision, applied and left by Helm 4", s, m)
			return true
		})
	}
	if len(differences) > 0 {
		t.Errorf("after %s (%s) the cluster does not hold exactly the manifest:\n  %s", m, end, strings.Join(differences, "\n  "))
	}
	if wasApart && !s.apart {
		s.seen.note("ours", "healed what Helm had left apart from the manifest", s, m)
	}
}

// orphaned reports whether a difference is a Secret's key that no field manager
// owns: a key that was applied as stringData and no longer is stays in data that
// way, and no relevant record shows that the release sent it.
func orphaned(held holding, difference string) bool {
	name, field, _ := strings.Cut(difference, " ")
	key, isData := strings.CutPrefix(strings.TrimSuffix(field, " is left"), ".data.")
	if !isData || !strings.HasPrefix(name, "Secret/") || held[name] == nil {
		return false
	}
	return !slices.ContainsFunc(held[name].GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		var fields map[string]map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			return true
		}
		_, owns := fields["f:data"]["f:"+key]
		return owns
	})
}

// holdingsApart compares what a namespace contained with what it contains, apart from hooks.
func holdingsApart(before, after holding) []string {
	var differences []string
	for name, object := range before {
		if isHook(object.GetName()) {
			continue
		}
		if after[name] == nil {
			differences = append(differences, name+" is gone")
			continue
		}
		for _, d := range fieldsApart("", bare(object), bare(after[name])) {
			differences = append(differences, name+" "+d)
		}
	}
	for name, object := range after {
		if before[name] == nil && !isHook(object.GetName()) {
			differences = append(differences, name+" is new")
		}
	}
	slices.Sort(differences)
	return differences
}

func isHook(name string) bool { return strings.HasPrefix(name, "hook-") }

// allowed returns what may be in the namespace besides the manifest: hooks that their delete
// policy leaves (or that were there before; after a failed move, any), and the object whose
// resource policy is keep.
func allowed(end string, before holding) func(string, *unstructured.Unstructured) bool {
	return func(name string, object *unstructured.Unstructured) bool {
		policy := object.GetAnnotations()["helm.sh/hook-delete-policy"]
		if isHook(object.GetName()) {
			return end != endDone || before[name] != nil || !strings.Contains(policy, "hook-succeeded")
		}
		return name == "ConfigMap/kept"
	}
}

var spaces = regexp.MustCompile(`\s+`)

// watchHelm notes where Helm did something other than what its record says.
func (s *sequence) watchHelm(t *testing.T, m move, end, stderr string, now, after answers) {
	t.Helper()
	if len(now.History) == 0 {
		s.touched = false
	}
	words := spaces.ReplaceAllString(strings.ToLower(stderr), " ")
	if strings.Contains(words, "conflict") {
		s.seen.note(m.hand.name, "failed with a conflict of field managers", s, m)
		if s.touched {
			t.Errorf("%s: a conflict after we have worked on the release:\n%s", m, stderr)
		}
	} else if want := s.expected(m, now); end != want && want != "any" {
		s.seen.note(m.hand.name, fmt.Sprintf("%s: %s, where ours would be %s%s", m.op, end, want, reason(words)), s, m)
	}
	if end != endDone && end != endRolledBack && end != endRemoved {
		s.apart = true // nothing is promised
		return
	}
	manifest := after.Manifest
	if status := lastOf(after.History).Status; status == "" || status == "uninstalled" {
		manifest = ""
	}
	differences := s.look.exactly(t, s.release, manifest, s.look.holds(t), allowed(endFailed, nil))
	s.apart = len(differences) > 0
	s.stillLost(differences)
	for _, d := range differences {
		s.log = append(s.log, "  seen: "+d)
		s.left[d] = true
		if manifest == "" && len(after.History) == 0 && strings.HasSuffix(d, " is left") {
			s.lost[d] = true
		}
		s.seen.note(m.hand.name, end+" and "+kindOfDifference(d), s, m)
	}
}

// stillLost forgets what is no longer there, or is in a manifest again and thus on record.
func (s *sequence) stillLost(differences []string) {
	for d := range s.lost {
		if !slices.Contains(differences, d) {
			delete(s.lost, d)
		}
	}
}

// reason picks a known phrase from an error.
func reason(words string) string {
	for _, known := range []string{
		"has no deployed releases", "cannot reuse a name that is still in use", "another operation", "already exists", "field is immutable", "no revision for release", "release: not found", "has no 0 version", "exists and cannot be imported", "invalid ownership metadata",
	} {
		if strings.Contains(words, known) {
			return " (“" + known + "”)"
		}
	}
	return ""
}

func kindOfDifference(d string) string {
	name, field, _ := strings.Cut(d, " ")
	kind, _, _ := strings.Cut(name, "/")
	switch {
	case field == "is left":
		return "left an object that its manifest does not have"
	case field == "is missing":
		return "lacks an object of its manifest"
	case strings.HasSuffix(field, " is left"):
		return "left a field that its manifest does not have (" + kind + ")"
	case strings.HasSuffix(field, " is missing"):
		return "lacks a field of its manifest (" + kind + ")"
	}
	return "has a field otherwise than its manifest (" + kind + ")"
}

// sightings is what a sweep has seen.
type sightings struct {
	mu          sync.Mutex
	moves, ends map[string]int
	notes       map[string]*note
}

type note struct {
	times   int
	example string
}

func (s *sightings) count(m move, end string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves[m.hand.name]++
	s.ends[m.hand.name+" "+end]++
}

func (s *sightings) note(hand, what string, q *sequence, m move) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := hand + " " + what
	if s.notes[key] == nil {
		s.notes[key] = &note{example: fmt.Sprintf("seed %d, %s", q.seed, m.op)}
	}
	s.notes[key].times++
}

func (s *sightings) table(sequences, of int, took time.Duration) string {
	var b strings.Builder
	total := 0
	for _, n := range s.moves {
		total += n
	}
	fmt.Fprintf(&b, "%d of %d sequences, %d moves in %s; after each all three programs told the same of the release.\n\n", sequences, of, total, took.Round(time.Second))
	b.WriteString("| end of a move | ours | Helm 3.22.0 | Helm 4.3.1 |\n|---|---|---|---|\n")
	for _, end := range []string{endDone, endRolledBack, endRemoved, endFailed, endRefused, endStuck} {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", end, s.ends["ours "+end], s.ends["helm3 "+end], s.ends["helm4 "+end])
	}
	b.WriteString("\n| seen | times | first |\n|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(s.notes)) {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", key, s.notes[key].times, s.notes[key].example)
	}
	return b.String()
}
