package release

import "testing"

// The questions that decide where an upgrade or a rollback starts from.
func TestHistory(t *testing.T) {
	for name, c := range map[string]struct {
		statuses                   []Status // of revisions 1, 2 …
		last, deployed, successful int      // 0: none
	}{
		"never installed":                    {nil, 0, 0, 0},
		"up":                                 {[]Status{StatusSuperseded, StatusDeployed}, 2, 2, 2},
		"S5: failed attempts don't count":    {[]Status{StatusDeployed, StatusFailed, StatusFailed}, 3, 1, 1},
		"S6: a failed first install":         {[]Status{StatusFailed}, 1, 0, 0},
		"S9: killed between the two records": {[]Status{StatusSuperseded, StatusSuperseded, StatusPendingUpgrade}, 3, 0, 2},
		"two deployed, as a race leaves":     {[]Status{StatusDeployed, StatusDeployed, StatusFailed}, 3, 2, 2},
		"a superseded one beside a deployed": {[]Status{StatusDeployed, StatusSuperseded}, 2, 1, 1},
		"uninstalled, history kept":          {[]Status{StatusSuperseded, StatusUninstalled}, 2, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var revisions []*Revision
			for i, status := range c.statuses {
				revisions = append([]*Revision{{Version: i + 1, Info: Info{Status: status}}}, revisions...)
			}
			h := NewHistory(revisions)
			for what, pair := range map[string][2]int{
				"Last":           {c.last, version(h.Last())},
				"Deployed":       {c.deployed, version(h.Deployed())},
				"LastSuccessful": {c.successful, version(h.LastSuccessful())},
				"Revision(2)":    {min(2, len(h)/2*2), version(h.Revision(2))},
				"Since(1)":       {max(0, len(h)-1), len(h.Since(1))},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: %d, want %d", what, pair[1], pair[0])
				}
			}
		})
	}
}

// A failed install does not go back to what was uninstalled.
func TestSinceUninstall(t *testing.T) {
	var h History
	for i, status := range []Status{StatusSuperseded, StatusUninstalled, StatusSuperseded, StatusUninstalled, StatusFailed} {
		h = append(h, &Revision{Version: i + 1, Info: Info{Status: status}})
	}
	for upTo, want := range []int{0, 1, 0, 1, 0, 1} {
		if got := len(h[:upTo].SinceUninstall()); got != want {
			t.Errorf("of the first %d revisions %d count, want %d", upTo, got, want)
		}
	}
	if good := h.SinceUninstall().LastSuccessful(); good != nil {
		t.Errorf("revision %d was uninstalled since", good.Version)
	}
}

// A revision that was deployed stays one that has succeeded when its uninstall fails or is killed, also after
// Helm's next upgrade has marked it as superseded; what Helm left uninstalling says nothing.
func TestUninstallThatDidNotEnd(t *testing.T) {
	failed := UninstallFailed("web") + "hook Job/x: it has failed"
	for name, c := range map[string]struct {
		status      Status
		description string
		succeeded   bool
	}{
		"failed":                   {StatusFailed, failed, true},
		"failed, superseded since": {StatusSuperseded, failed, true},
		"under way":                {StatusUninstalling, UninstallUnderWay + ", without a lock", true},
		"of a failed one, failed":  {StatusFailed, `Uninstall of the failed release "web" failed: x`, false},
		"of a failed one, and so":  {StatusSuperseded, `Uninstall of the failed release "web" failed: x`, false},
		"of a failed one":          {StatusUninstalling, "kubectl-release: uninstall of a failed revision under way", false},
		"Helm's":                   {StatusUninstalling, "Deletion in progress (or silently failed)", false},
		"a failed upgrade":         {StatusFailed, `Upgrade "web" failed: x`, false},
		"a failed install, and so": {StatusSuperseded, `Release "web" failed: x`, false},
		"interrupted":              {StatusSuperseded, Interrupted, false},
		"helm-controller's":        {StatusSuperseded, "Release unlocked from stale 'pending-install' state", false},
		"somebody's words":         {StatusSuperseded, `again: Upgrade "web" failed: timeout`, true},
	} {
		r := &Revision{Name: "web", Version: 2, Info: Info{Status: c.status, Description: c.description}}
		if r.Succeeded() != c.succeeded {
			t.Errorf("%s: succeeded is %v", name, r.Succeeded())
		}
		h := History{{Version: 1, Info: Info{Status: StatusUninstalled}}, r}
		if over := h.Uninstalled(); (version(over) == 1) == c.succeeded {
			t.Errorf("%s: it counts as an attempt over revision %d", name, version(over))
		}
		h[0].Info.Status = StatusDeployed // left so by a run that was killed before it had superseded it
		if good := version(h.LastSuccessful()); (good == 2) != (c.succeeded && c.status != StatusSuperseded) {
			t.Errorf("%s: beside a deployed one, revision %d counts", name, good)
		}
	}
}

func version(r *Revision) int {
	if r == nil {
		return 0
	}
	return r.Version
}

// A pending status means that an operation is running or has died; Helm treats
// uninstalling separately, yet it is no less unfinished.
func TestPending(t *testing.T) {
	for status, want := range map[Status]bool{
		StatusUnknown: false, StatusDeployed: false, StatusUninstalled: false, StatusSuperseded: false, StatusFailed: false,
		StatusUninstalling: true, StatusPendingInstall: true, StatusPendingUpgrade: true, StatusPendingRollback: true,
		"": false,
	} {
		if status.Pending() != want {
			t.Errorf("%q pending: %v", status, !want)
		}
	}
}
