package plan

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// A pending revision can be resumed if its record tells how far its run got.
func TestResumable(t *testing.T) {
	hook := func(phase release.Phase, events ...manifest.Event) release.Hook {
		return release.Hook{Hook: manifest.Hook{Name: "migrate", Events: events}, LastRun: release.Execution{Phase: phase}}
	}
	list := hook(release.PhaseSucceeded, manifest.PreUpgrade)
	list.Manifest = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}"
	for _, tc := range []struct {
		why         string
		status      release.Status
		description string
		hooks       []release.Hook
		want        bool
	}{
		{why: "an upgrade", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), want: true},
		{why: "an install", status: release.StatusPendingInstall, description: pendingDescription(Install), want: true},
		{why: "a rollback", status: release.StatusPendingRollback, description: pendingDescription(Rollback), want: true},
		{why: "deployed", status: release.StatusDeployed, description: pendingDescription(Upgrade)},
		{why: "an uninstall", status: release.StatusUninstalling, description: pendingDescription(Uninstall)},
		{why: "by Helm", status: release.StatusPendingUpgrade, description: "Preparing upgrade"},
		{why: "without a lock", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade) + UnlockedMark},
		{why: "hooks that have begun", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{
			hook(release.PhaseSucceeded, manifest.PreUpgrade), hook(release.PhaseRunning, manifest.PostUpgrade), hook("", manifest.PostInstall),
		}, want: true},
		{why: "a hook that has failed", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{hook(release.PhaseFailed, manifest.PreUpgrade)}},
		{why: "a hook of both moments", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{hook("", manifest.PreUpgrade, manifest.PostUpgrade)}},
		{why: "a hook of two objects", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{list}},
		{why: "a hook of two operations", status: release.StatusPendingUpgrade, description: pendingDescription(Upgrade), hooks: []release.Hook{hook("", manifest.PreInstall, manifest.PreUpgrade)}, want: true},
	} {
		r := &release.Revision{Info: release.Info{Status: tc.status, Description: tc.description}, Hooks: tc.hooks}
		if got := Resumable(r); got != tc.want {
			t.Errorf("%s: %t", tc.why, got)
		}
	}
}
