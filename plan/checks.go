package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Hooks returns the hooks of the revision that the operation works on: the
// target, or without one (uninstall) the newest stored revision.
func (in Input) Hooks() []release.Hook {
	if in.Target != nil {
		return in.Target.Record.Hooks
	}
	if last := in.History.Last(); last != nil {
		return last.Hooks
	}
	return nil
}

// HookObjects returns the parsed objects of each of Hooks.
func (in Input) HookObjects() [][]manifest.Object {
	if in.Target != nil {
		return in.Target.HookObjects
	}
	return in.StoredHookObjects
}

// checkHistory notes what state the release was found in, and blocks if
// another operation may still be running.
func (b *builder) checkHistory() {
	for _, c := range b.in.Corrupt {
		if b.in.Operation == Uninstall && !b.in.Options.KeepHistory && c.Revision != 0 {
			b.warn(manifest.ID{}, "the "+c.Why+"; it is removed unread", "")
			continue
		}
		b.warn(manifest.ID{}, "the "+c.Why+"; it is ignored", "restore it from a backup, or delete it")
	}
	last := b.in.History.Last()
	if last == nil || b.in.Operation == CorrectRecords {
		return
	}
	switch {
	case last.Info.Status.Pending():
		b.plan.FoundPending = true
		b.checkPending(last)
	case last.Info.Status == release.StatusFailed:
		first, _, _ := strings.Cut(last.Info.Description, "\n")
		b.plan.Found = fmt.Sprintf("revision %d failed: %s", last.Version, first)
	case last.Info.Status == release.StatusUninstalled:
		b.plan.Found = fmt.Sprintf("revision %d is uninstalled; its history was kept", last.Version)
	}
}

// checkPending blocks on a pending revision unless its run is known to be over or is taken over.
func (b *builder) checkPending(last *release.Revision) {
	p := b.in.Pending
	since := ""
	if p.Age != "" {
		since = " for " + p.Age
	}
	b.plan.Found = fmt.Sprintf("revision %d has been %s%s", last.Version, last.Info.Status, since)
	switch {
	case p.Holder != "":
		b.block(ProblemLocked, manifest.ID{}, fmt.Sprintf("%s is at work on this release", p.Holder), "wait for it to finish, or see: "+b.in.Invocation.Command("status", b.in.Release.Name))
	case p.Ours, p.Unlocked && b.in.Undoing: // during a rollback on failure, this run itself wrote it
		b.plan.Found += ": the run that wrote it was interrupted; this plan starts from what is really there"
	case b.in.Options.TakeOver:
		b.plan.Found += ": it is taken over (--take-over)"
	case p.Unlocked:
		b.plan.PendingElsewhere = true
		b.block(ProblemLocked, manifest.ID{}, b.plan.Found+", by a run that may still be at work: its lock can't be checked (no permission on Leases)", "make sure that it has ended, then add --take-over")
	default:
		b.plan.PendingElsewhere = true
		b.block(ProblemLocked, manifest.ID{}, b.plan.Found+", by another tool that may still be at work; Helm leaves this when it is killed", "once it is no longer running, add --take-over")
	}
}

// checkTwice blocks on objects that the chart renders more than once, also with Options.AsHelm. A stored
// revision can't be changed, so a rollback to one that has them restores the last of them, which is what
// Helm's leaves: it sends them one after another (3.22.0 and 4.3.1, pkg/kube/client.go, update).
func (b *builder) checkTwice() {
	objects := b.in.Target.Objects
	for i, o := range objects {
		last := b.targets[o.ID]
		what := fmt.Sprintf("the chart renders it twice: in %s and in %s", o.Source, objects[last].Source)
		switch {
		case last == i:
		case b.in.Operation == Rollback:
			b.problems(Problem{Kind: ProblemInvalid, Object: o.ID, What: what + "; the last one counts"})
		default:
			b.block(ProblemInvalid, o.ID, what, "remove one of the two")
		}
	}
}

// learnKinds looks for the target's CRDs, once only: there may be ten thousand objects.
func (b *builder) learnKinds() {
	if b.in.Target == nil {
		return
	}
	b.defined = manifest.DefinedKinds(b.in.Target.CRDs, b.in.Target.Objects, slices.Concat(b.in.Target.HookObjects...))
	var folder []manifest.Object
	if !b.in.Options.SkipCRDs && b.in.Operation != Rollback {
		folder = b.in.Target.CRDs
	}
	b.brings, b.first = manifest.DefinedKinds(folder, b.in.Target.Objects), manifest.DefinedKinds(folder)
}

// namespaceMissing reports whether the namespace is known not to exist.
func (b *builder) namespaceMissing(name string) bool {
	live, looked := b.in.Live[NamespaceID(name)]
	return looked && live.Object == nil && live.Unreadable == ""
}

// namespaceGoes reports whether the namespace exists and is being deleted.
func (b *builder) namespaceGoes(name string) bool {
	return b.isTerminating(NamespaceID(name))
}

// bringsNamespace reports whether the namespace does not exist and this plan creates it before or with
// the resources: because of --create-namespace, as an object of the chart, or as a hook that leaves it.
func (b *builder) bringsNamespace(name string) bool {
	if b.in.Target == nil || !b.namespaceMissing(name) {
		return false
	}
	return b.in.Options.CreateNamespace && name == b.in.Release.Namespace || b.wants(NamespaceID(name)) || b.hookBrings(NamespaceID(name))
}

// hookBrings reports whether a hook that runs before the resources creates the object and leaves it.
func (b *builder) hookBrings(id manifest.ID) bool {
	pre, _, _ := moments(b.in.Operation)
	if b.in.Options.NoHooks {
		return false
	}
	for i, h := range b.in.Hooks() {
		if h.On(pre) && !h.Deletes(manifest.HookSucceeded) && contains(id, b.in.HookObjects()[i]) {
			return true
		}
	}
	return false
}

func contains(id manifest.ID, objects []manifest.Object) bool {
	return slices.ContainsFunc(objects, func(o manifest.Object) bool { return o.ID == id })
}

// checkNamespaces blocks, once for each, on namespaces that are terminating,
// or that are missing and not created by this plan. The release's own
// namespace must exist before its first record is written, so a Namespace
// object in the chart does not help.
func (b *builder) checkNamespaces() {
	seen := map[string]bool{"": true}
	names := make([]string, 1, 1+len(b.in.Target.Objects))
	names[0] = b.in.Release.Namespace
	for _, o := range b.in.Target.Objects {
		names = append(names, o.Namespace)
	}
	refuse := func(kind ProblemKind, name, what, do string) {
		b.blockUnsent(Problem{Kind: kind, Object: NamespaceID(name), What: what, Do: do})
	}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		own := name == b.in.Release.Namespace
		switch {
		case !own && b.comesBack(NamespaceID(name)):
		case b.namespaceGoes(name):
			refuse(ProblemConflict, name, terminating(b.in.Live[NamespaceID(name)].Object), "wait until it is gone, or install into another namespace")
		case !b.namespaceMissing(name):
		case own && !b.in.Options.CreateNamespace:
			refuse(ProblemInvalid, name, "the release's namespace does not exist", "add --create-namespace, or choose another with --namespace")
		case !own && !b.bringsNamespace(name):
			refuse(ProblemInvalid, name, "the chart puts objects into this namespace, which does not exist", "create it first")
		}
	}
}

// NamespaceID returns the object ID of a namespace.
func NamespaceID(name string) manifest.ID { return manifest.ID{Kind: kinds.Namespace.Kind, Name: name} }

// NamespaceDoc returns the Namespace object that --create-namespace creates,
// with the label that Helm gives it.
func NamespaceDoc(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kinds.Namespace.Kind,
		"metadata": map[string]any{"name": name, "labels": map[string]any{"name": name}},
	}}
}

// warnGone warns about an object that can't exist because the cluster no longer knows its kind.
func (b *builder) warnGone(id manifest.ID) {
	if kind, looked := b.in.Kinds[id.GroupKind()]; looked && len(kind.Versions) == 0 && kind.Unavailable == "" {
		b.warn(id, "the cluster no longer knows its kind, so there is nothing to remove", "")
	}
}

func (b *builder) warnDuplicates(o manifest.Object) {
	for _, d := range patch.DuplicateKeys(o.Doc, b.in.Options.ServerSide) {
		b.warn(o.ID, fmt.Sprintf("%s has %s more than once; the API server merges such lists by that key", d.Path, d.Key), "give each item its own key")
	}
}

// RecordReserve is by how many bytes a new record may grow until the run has ended: by a description and
// the results of hooks.
const RecordReserve = 8 << 10

// checkRecord blocks if the release record is, or may become, too large for the store. A record that is
// stored already, such as one that Helm has written, needs no reserve: its release can be tested, resumed
// and rolled back to.
func (b *builder) checkRecord() {
	reserve, grows := 0, ""
	if op := b.in.Operation; (op == Install || op == Upgrade) && !b.in.Resume {
		reserve, grows = RecordReserve, fmt.Sprintf(" and may grow by %d until the run has ended", RecordReserve)
	}
	if b.in.MaxRecordSize == 0 || b.in.RecordSize+reserve <= b.in.MaxRecordSize {
		return
	}
	what := fmt.Sprintf("the release record is %d bytes%s, and the store accepts at most %d", b.in.RecordSize, grows, b.in.MaxRecordSize)
	var parts []string
	for _, part := range b.in.RecordParts {
		parts = append(parts, fmt.Sprintf("%s %d", part.What, part.Bytes))
	}
	if len(parts) > 0 {
		what += "; its largest parts, in bytes: " + strings.Join(parts, ", ")
	}
	b.block(ProblemInvalid, manifest.ID{}, what, "leave large files out of the chart (.helmignore), split it, or keep records in PostgreSQL (HELM_DRIVER=sql), which has no such limit")
}
