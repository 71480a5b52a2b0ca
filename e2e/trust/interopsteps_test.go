//go:build cluster

package trust

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// move is one step of a sequence: the command line, and what it means.
type move struct {
	hand   hand
	op     string // install, upgrade, rollback, uninstall
	args   []string
	atomic bool
	waits  bool
	// to is the revision of a rollback; 0 if none is given.
	to   int
	keep bool // uninstall --keep-history
	over bool // install or upgrade --install over an uninstalled release
}

func (m move) String() string { return m.hand.name + " " + strings.Join(m.args, " ") }

// next picks the next move.
func (s *sequence) next(t *testing.T, now answers) move {
	t.Helper()
	m := move{hand: s.hands[s.rng.IntN(len(s.hands))]}
	last := lastOf(now.History)
	switch dice := s.rng.IntN(20); {
	case last.Status == "" && dice < 14:
		m.op, m.args = "install", []string{"install"}
	case last.Status == "":
		m.op, m.args = "install", []string{"upgrade", "--install"}
	case last.Status == "uninstalled" && dice < 7:
		m.op, m.args, m.over = "install", []string{"upgrade", "--install"}, true
	case last.Status == "uninstalled" && dice < 10:
		m.op, m.args, m.over = "install", []string{"install", "--replace"}, true
	case last.Status == "uninstalled" && dice < 12:
		m.op, m.args = "uninstall", []string{"uninstall"}
	case last.Status == "uninstalled":
		m.op, m.args = "rollback", []string{"rollback"}
	case dice < 11:
		m.op, m.args = "upgrade", []string{"upgrade"}
	case dice < 17:
		m.op, m.args = "rollback", []string{"rollback"}
	default:
		m.op, m.args = "uninstall", []string{"uninstall"}
	}
	m.args = append(m.args, s.release)
	switch m.op {
	case "install", "upgrade":
		s.deployment(t, &m)
	case "rollback":
		if s.rng.IntN(3) > 0 {
			m.to = now.History[s.rng.IntN(len(now.History))].Revision
			m.args = append(m.args, strconv.Itoa(m.to))
		}
		m.waits = s.rng.IntN(3) == 0
	case "uninstall":
		if m.keep = s.rng.IntN(2) == 0; m.keep {
			m.args = append(m.args, "--keep-history")
		}
	}
	s.waiting(&m, now)
	m.args = append(m.args, "--namespace", s.namespace)
	return m
}

func lastOf(history []row) row {
	if len(history) == 0 {
		return row{}
	}
	return history[len(history)-1]
}

// deployment chooses the chart and the values of an install or upgrade.
func (s *sequence) deployment(t *testing.T, m *move) {
	t.Helper()
	s.chart.broken = brokenNot
	if m.op == "install" || s.rng.IntN(3) > 0 {
		s.chart.change(s.rng)
	}
	if s.rng.IntN(4) == 0 {
		s.chart.broken = []string{brokenObject, brokenPods, brokenHook}[s.rng.IntN(3)]
		s.chart.version++
	}
	s.charts++
	folder := fmt.Sprintf("%s/chart-%d", s.folder, s.charts)
	s.chart.write(t, folder)
	m.args = append(m.args, folder)
	set := fmt.Sprintf("greeting=g%d,replicas=%d", s.rng.IntN(3), 1+s.rng.IntN(2))
	switch s.rng.IntN(7) {
	case 0: // what was given before, or the defaults
	case 1:
		m.args = append(m.args, "--set", set)
	case 2:
		m.args = append(m.args, "--set", set+",extra.b=x"+strconv.Itoa(s.rng.IntN(2)))
	case 3:
		m.args = append(m.args, "--set-json", `extra={"more":{"deep":[1,"two"]},"b":"json"}`)
	case 4:
		m.args = append(m.args, s.onUpgrade(*m, "--reuse-values", "--set", "greeting=reused")...)
	case 5:
		m.args = append(m.args, s.onUpgrade(*m, "--reset-then-reuse-values", "--set", "replicas=3")...)
	case 6:
		m.args = append(m.args, s.onUpgrade(*m, "--reset-values")...)
	}
	m.atomic = s.rng.IntN(4) == 0
	m.waits = m.atomic || s.chart.broken == brokenPods || s.rng.IntN(4) == 0
}

// onUpgrade returns the flags if the command is upgrade, which alone has them.
func (s *sequence) onUpgrade(m move, flags ...string) []string {
	if m.args[0] == "install" {
		return nil
	}
	return flags
}

// waiting adds the flags for waiting, as each program spells them. Only the timeout
// tells Helm 3 that pods will never be ready.
func (s *sequence) waiting(m *move, now answers) {
	timeout := "5m"
	if s.goal(*m, now).broken == brokenPods {
		timeout = map[bool]string{true: "60s", false: "6s"}[m.hand.name == "ours"]
	}
	m.args = append(m.args, "--timeout", timeout)
	switch {
	case m.atomic && m.hand.name == "helm4":
		m.args = append(m.args, "--rollback-on-failure")
	case m.atomic:
		m.args = append(m.args, "--atomic")
	case m.waits:
		m.args = append(m.args, "--wait")
	}
	if m.hand.name == "ours" && strings.HasPrefix(lastOf(now.History).Status, "pending-") {
		m.args = append(m.args, "--take-over")
	}
}

// goal is what a move will send.
type goal struct {
	broken string
	none   bool // there is nothing to return to
}

// goal returns what our program takes a move to mean: a rollback without a
// revision goes to the last one that was deployed.
func (s *sequence) goal(m move, now answers) goal {
	switch m.op {
	case "install", "upgrade":
		return goal{broken: s.chart.broken}
	case "rollback":
		to := m.to
		if to == 0 {
			to = lastGood(now.History[:len(now.History)-1])
		}
		return goal{broken: s.brokenAt[to], none: to == 0}
	}
	return goal{}
}

func lastGood(history []row) int {
	for _, r := range slices.Backward(history) {
		if r.Status == "deployed" || r.Status == "superseded" {
			return r.Revision
		}
	}
	return 0
}

// The ends of a move.
const (
	endDone       = "done"
	endFailed     = "failed, the new revision says so"
	endRolledBack = "rolled back"
	endRemoved    = "uninstalled again"
	endRefused    = "refused, nothing written"
	endStuck      = "left pending"
)

// exitError is the exit code of an error, and of a plan with blocking problems.
const exitError = 1

// expected returns how a move by our program must end.
func (s *sequence) expected(m move, now answers) string {
	g, last := s.goal(m, now), lastOf(now.History)
	fails := g.broken == brokenHook || g.broken == brokenPods && m.waits
	switch {
	case m.op == "uninstall" && last.Status == "uninstalled" && m.keep:
		return "any"
	case m.op == "uninstall":
		return endDone
	case g.none, g.broken == brokenObject:
		return endRefused
	case !fails:
		return endDone
	case !m.atomic:
		return endFailed
	}
	good := goodForRollback(now.History)
	switch {
	case good == 0 && m.op == "install":
		return endRemoved
	case good == 0:
		return endFailed // what an earlier attempt has left stays
	case s.brokenAt[good] != brokenNot:
		return endFailed // the rollback fails as well
	}
	return endRolledBack
}

// goodForRollback returns the revision that an atomic upgrade returns to.
func goodForRollback(history []row) int {
	for i, r := range slices.Backward(history) {
		if r.Status == "uninstalled" {
			history = history[i+1:]
			break
		}
	}
	for _, r := range slices.Backward(history) {
		if r.Status == "deployed" {
			return r.Revision
		}
	}
	return lastGood(history)
}

// ending returns how a move ended, according to the records.
func ending(m move, exitCode int, before, after answers) string {
	was, is := lastOf(before.History), lastOf(after.History)
	switch {
	case strings.HasPrefix(is.Status, "pending-") || is.Status == "uninstalling":
		return endStuck
	case m.op == "uninstall" && exitCode == 0:
		return endDone
	case is.Status == "" && m.hand.name == "ours" && exitCode == exitError: // nothing before, nothing after
		return endRefused
	case is.Status == "":
		return endRemoved
	case is.Revision == was.Revision && is.Status == was.Status:
		return endRefused
	case is.Status == "uninstalled" && m.op != "uninstall":
		return endRemoved
	case exitCode == 0 && is.Status == "deployed":
		return endDone
	case is.Status == "deployed":
		return endRolledBack
	}
	return endFailed
}
