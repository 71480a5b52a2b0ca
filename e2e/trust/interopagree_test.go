//go:build cluster

package trust

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is a revision as all three programs' history shows it.
type row struct {
	Revision    int
	Status      string
	Chart       string
	AppVersion  string
	Description string
}

// answers is what one program reports about a release. All of them read the same
// record, so their answers must be equal.
type answers struct {
	History                           []row
	List                              []string
	Values, AllValues                 any
	Manifest, Hooks, Notes            string
	Status, Description, StatusOfNote string
	Refused                           []string // the questions that were not answered
}

// questions are asked of each program, in this order.
var questions = [][]string{
	{"history", "-o", "json"},
	{"get", "values", "-o", "json"},
	{"get", "values", "--all", "-o", "json"},
	{"get", "manifest"},
	{"get", "hooks"},
	{"get", "notes"},
	{"status", "-o", "json"},
	{"list", "-o", "json"},
}

// ask asks one program all the questions.
func (s *sequence) ask(t *testing.T, h hand) answers {
	t.Helper()
	replies := make([]string, len(questions))
	var refused []string
	for i, q := range questions {
		args := append(append([]string{}, q...), "--namespace", s.namespace)
		switch {
		case q[0] == "list" && h.name != "helm4": // Helm 4 always lists all
			args = append(args, "--all")
		case q[0] == "get":
			args = append([]string{"get", q[1], s.release}, args[2:]...)
		case q[0] != "list":
			args = append([]string{q[0], s.release}, args[1:]...)
		}
		r := cluster.Run(t, h.program, "", args...)
		if r.ExitCode != 0 {
			refused = append(refused, strings.Join(q[:2], " "))
			if !strings.Contains(r.Stderr, "not found") && !strings.Contains(r.Stderr, "there is no release") {
				t.Errorf("%s %s: exit code %d\n%s", h.name, strings.Join(args, " "), r.ExitCode, r.Stderr)
			}
			continue
		}
		replies[i] = r.Stdout
	}
	a := answers{Refused: refused, Manifest: strings.TrimSpace(replies[3]), Hooks: strings.TrimSpace(replies[4]), Notes: strings.TrimSpace(replies[5])}
	a.History = rows(t, replies[0])
	decode(t, replies[1], &a.Values)
	decode(t, replies[2], &a.AllValues)
	var status struct {
		Info struct{ Status, Description, Notes string }
	}
	decode(t, replies[6], &status)
	a.Status, a.Description, a.StatusOfNote = status.Info.Status, status.Info.Description, strings.TrimSpace(status.Info.Notes)
	var list []map[string]any
	decode(t, replies[7], &list)
	for _, r := range list {
		a.List = append(a.List, fmt.Sprint(r["name"], r["namespace"], r["revision"], r["status"], r["chart"], r["app_version"]))
	}
	return a
}

func rows(t *testing.T, text string) []row {
	t.Helper()
	var raw []struct {
		Revision    int
		Status      string
		Chart       string
		AppVersion  string `json:"app_version"`
		Description string
	}
	decode(t, text, &raw)
	var rows []row
	for _, r := range raw {
		rows = append(rows, row(r))
	}
	return rows
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if text == "" {
		return // the question was refused
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Errorf("read %q: %v", text, err)
	}
}

// agreed asks all three programs, checks that they agree, and returns the answers.
func (s *sequence) agreed(t *testing.T) answers {
	t.Helper()
	all := make([]answers, len(s.hands))
	var group sync.WaitGroup
	for i, h := range s.hands {
		group.Go(func() { all[i] = s.ask(t, h) })
	}
	group.Wait()
	for i := 1; i < len(all); i++ {
		if diff := cmp.Diff(all[0], all[i]); diff != "" {
			t.Errorf("%s does not read the release as %s does (-%s +%s):\n%s", s.hands[i].name, s.hands[0].name, s.hands[0].name, s.hands[i].name, diff)
		}
	}
	return all[0]
}
