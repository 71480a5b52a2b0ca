package reconcile_test

import (
	"context"
	"testing"
	"testing/synctest"
)

// renderings are parts of a spec that add the text to a manifest, by name.
func renderings(text string) map[string]string {
	return map[string]string{
		"common metadata": "commonMetadata: {labels: {text: " + text + "}}\n",
		"post-renderers":  `postRenderers: [{kustomize: {patches: [{target: {kind: ConfigMap}, patch: '[{"op": "add", "path": "/data/text", "value": "` + text + `"}]'}]}}]` + "\n",
	}
}

// Changed common metadata and post-renderers whose upgrade has failed are tried again: the digests in the
// status are those of what was deployed.
func TestFailedRenderingIsTriedAgain(t *testing.T) {
	for name, spec := range renderings("bad") {
		t.Run(name, func(t *testing.T) {
			remedy := "upgrade: {remediation: {retries: 1}}\n"
			b := newBench(t, remedy)
			b.mustPass()
			b.apply(base + remedy + spec)
			b.passes()
			if b.stored() != "superseded failed superseded failed deployed" || b.condition("Stalled") != "Stalled True RetriesExceeded" {
				t.Errorf("records %s, %s, %s", b.stored(), b.condition("Stalled"), b.condition("Ready"))
			}
		})
	}
}

// New and changed common metadata and post-renderers are released once, and then tested.
func TestRenderingIsTestedOnce(t *testing.T) {
	for name, spec := range renderings("two") {
		t.Run(name, func(t *testing.T) {
			const tests = "test: {enable: true}\n"
			b := newBench(t, tests+spec)
			b.withHooks("test", "checks")
			b.passes()
			if b.stored() != "deployed" || b.condition("Ready") != "Ready True TestSucceeded" {
				t.Errorf("records %s, %s", b.stored(), b.condition("Ready"))
			}
			b.apply(base + tests)
			b.passes()
			if b.stored() != "superseded deployed" || b.condition("Ready") != "Ready True TestSucceeded" {
				t.Errorf("without it: records %s, %s", b.stored(), b.condition("Ready"))
			}
		})
	}
}

// A rendering that is rolled back because its tests fail is tried again, too, whether or not one pass
// makes all of that.
func TestRenderingThatFailsItsTests(t *testing.T) {
	const remedy = "upgrade: {remediation: {retries: 1}}\n"
	for _, ended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, remedy+renderings("two")["common metadata"]+"test: {enable: true, filters: [{name: fails, exclude: true}]}")
			b.withHooks("test", "checks", "fails")
			b.passes()
			b.apply(base + remedy + "test: {enable: true}")
			if ended { // in the first test
				ctx, end := context.WithCancel(t.Context())
				b.ctx, b.creates = ctx, func(string) {
					end()
					synctest.Wait()
				}
				if _, err := b.pass(); err == nil || b.stored() != "superseded deployed" {
					t.Fatalf("%v, records %s", err, b.stored())
				}
				b.ctx, b.creates = t.Context(), func(string) {}
			}
			b.passes()
			if b.stored() != "superseded superseded superseded superseded deployed" || b.condition("Stalled") != "Stalled True RetriesExceeded" || b.condition("Ready") != "Ready False RollbackSucceeded" {
				t.Errorf("ended %t: records %s, %s, %s", ended, b.stored(), b.condition("Stalled"), b.condition("Ready"))
			}
		})
	}
}

// Common metadata that changes while somebody else is working on the release is released afterwards.
func TestRenderingOfALockedRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.mustPass()
		b.lockedByAnother(func() {
			b.apply(base + "commonMetadata: {labels: {team: a}}")
			if b.mustPass(); b.stored() != "deployed" {
				t.Fatalf("records %s", b.stored())
			}
		})
		if b.mustPass(); b.stored() != "superseded deployed" || b.cluster.Objects[configMap].GetLabels()["team"] != "a" {
			t.Errorf("records %s, labels %v", b.stored(), b.cluster.Objects[configMap].GetLabels())
		}
	})
}

// What is pending for another generation is not resumed if only the common metadata or the post-renderers
// have changed since, even if the release is locked at first.
func TestRenderingOfAPendingRelease(t *testing.T) {
	for name, spec := range renderings("three") {
		for _, locked := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := pendingUpgrade(t)
				b.apply(base + spec + "values: {text: two}")
				if locked {
					b.lockedByAnother(func() {
						if b.mustPass(); b.stored() != "deployed pending-upgrade" {
							t.Fatalf("records %s", b.stored())
						}
					})
				}
				if b.passes(); b.stored() != "superseded failed deployed" || b.condition("Ready") != "Ready True UpgradeSucceeded" || !b.rendered("three") {
					t.Errorf("%s, locked %t: records %s, %s, %v", name, locked, b.stored(), b.condition("Ready"), b.cluster.Objects[configMap])
				}
			})
		}
	}
}

// rendered reports whether the ConfigMap has what renderings add.
func (b *bench) rendered(text string) bool {
	return b.text() == text || b.cluster.Objects[configMap].GetLabels()["text"] == text
}

// A rendering whose process died before it could tell the outcome is released again if the spec is changed
// back by then: the digests in the status are those from before it.
func TestUntoldRenderingIsTakenBack(t *testing.T) {
	for name, spec := range renderings("two") {
		b := newBench(t, "")
		b.mustPass()
		b.apply(base + spec)
		b.reports = nil
		b.mustPass()
		b.hr.Status = b.reports[0] // the last one that was written before
		b.apply(base)
		if b.passes(); b.rendered("two") || b.condition("Ready") != "Ready True UpgradeSucceeded" || b.stored() != "superseded superseded deployed" {
			t.Errorf("%s: records %s, %s, %v", name, b.stored(), b.condition("Ready"), b.cluster.Objects[configMap])
		}
	}
}
