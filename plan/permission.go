package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Permission is a permission as RBAC grants it: a verb on a resource, in a namespace ("": the whole
// cluster), and on a single object if Name is set.
type Permission struct {
	Verb      string
	Group     string
	Resource  string
	Namespace string
	Name      string
}

// Access is the API server's answer about the permissions that a first Build asks about.
type Access struct {
	// Denied holds the permissions that it denies, among those that it was asked about.
	Denied map[Permission]bool
	// Unchecked says why it could not be asked; "" if it could.
	Unchecked string
}

// Subject is the identity whose permissions are asked about: a user name, as RBAC knows it, and
// groups.
type Subject struct {
	User   string
	Groups []string
}

// requiredPermission is a permission and what it is required for.
type requiredPermission struct {
	Permission
	object manifest.ID
	// otherwise says what happens without it; "" means that the plan can't be applied.
	otherwise string
}

// requiredPermissions lists the permissions that no dry run checks, in the order of the run. In a
// first Build it includes some that may turn out not to be needed.
func (b *builder) requiredPermissions() []requiredPermission {
	n := permissionCollector{builder: b}
	n.lock()
	b.plan.Steps(func(stage StageName, s *Step) { n.step(stage, s) })
	return n.list
}

// permissionCollector collects the required permissions of a plan.
type permissionCollector struct {
	*builder
	list []requiredPermission
}

// ask adds verbs on an object. Create, list and watch are checked without a name: RBAC can't limit
// create to a name
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
func (n *permissionCollector) ask(id manifest.ID, otherwise string, verbs ...string) {
	at := Permission{Group: id.Group, Resource: n.in.Kinds[id.GroupKind()].Resource, Namespace: id.Namespace}
	if at.Resource == "" {
		at.Resource, at.Namespace = n.resourceOf(id)
	}
	if at.Resource == "" {
		return
	}
	for _, verb := range verbs {
		p := at
		p.Verb = verb
		if verb != "create" && verb != "list" && verb != "watch" {
			p.Name = id.Name
		}
		n.list = append(n.list, requiredPermission{Permission: p, object: id, otherwise: otherwise})
	}
}

// resourceOf returns the resource of an object, and its namespace if it is namespaced, for kinds
// that discovery does not know because a CRD of this plan defines them; "" for other kinds.
func (b *builder) resourceOf(id manifest.ID) (resource, namespace string) {
	d, ok := b.defined[id.GroupKind()]
	if !ok || d.ClusterScoped {
		return d.Resource, ""
	}
	return d.Resource, id.Namespace
}

// lockNamespace is the namespace of the release's lock, which is the namespace of its records.
func (in Input) lockNamespace() string { return cmp.Or(in.Records.Namespace, in.Release.Namespace) }

func (n *permissionCollector) lock() {
	id := manifest.ID{Group: kinds.Lease.Group, Kind: kinds.Lease.Kind, Namespace: n.in.lockNamespace(), Name: n.in.LockName}
	if id.Name != "" {
		n.known(id, "leases", "nothing prevents concurrent operations on this release", "create", "update", "delete")
	}
}

// known does what ask does for kinds that may not occur in the release and so may not have been
// discovered.
func (n *permissionCollector) known(id manifest.ID, resource, otherwise string, verbs ...string) {
	for _, verb := range verbs {
		p := Permission{Verb: verb, Group: id.Group, Resource: resource, Namespace: id.Namespace}
		if verb != "create" {
			p.Name = id.Name
		}
		n.list = append(n.list, requiredPermission{Permission: p, object: id, otherwise: otherwise})
	}
}

func (n *permissionCollector) step(stage StageName, s *Step) {
	if len(s.Behind) > 0 {
		n.plan.Steps(func(_ StageName, other *Step) {
			if slices.Contains(s.Behind, other.ID) { // it waits until that object is gone
				n.ask(other.Object, polls, "list", "watch")
			}
		})
	}
	switch s.Op {
	case OpCreate:
		n.creation(stage, s)
	case OpPatch, OpAdopt, OpReplace:
		if n.in.Applier != "" && s.Op == OpReplace {
			n.ask(s.Object, "", "update")
		} else if n.in.Applier != "" {
			n.ask(s.Object, "", "patch")
		}
		if n.in.Predictions == nil && n.in.Options.Force { // it may turn into a recreate
			n.ask(s.Object, "", "delete", "create")
		}
	case OpRecreate:
		n.ask(s.Object, "", "delete", "create")
		n.ask(s.Object, polls, "list", "watch")
	case OpDelete:
		otherwise := ""
		if s.When == WhenFailed {
			otherwise = "it stays in the cluster if it fails"
		}
		if stage == StageInterrupted {
			otherwise = n.plan.leavesLeftovers()
			n.ask(s.Object, polls, "list", "watch")
		}
		n.ask(s.Object, otherwise, "delete")
	case OpRun:
		n.hook(s)
	case OpWait:
		n.ask(s.Object, polls, "list", "watch")
	case OpRecord:
		n.record(s)
	case OpKeep, OpNone:
	}
}

// polls says how apply waits for an object that it may get but not list and watch.
const polls = "it is polled instead"

// hook adds what running a hook needs, including get, to look for an existing object with its name.
func (n *permissionCollector) hook(s *Step) {
	if s.InPlace() {
		n.ask(s.Object, "", "get", "patch")
	} else {
		n.ask(s.Object, "", "get", "create")
	}
	n.ask(s.Object, polls, "list", "watch")
}

func (n *permissionCollector) creation(stage StageName, s *Step) {
	switch {
	case (s.Estimate != "" || n.in.Applier != "") && s.PatchType == types.ApplyPatchType:
		n.ask(s.Object, "", "create", "patch")
	case stage == StageNamespace:
		n.known(s.Object, "namespaces", "", "create")
	case s.Estimate != "" || n.in.Applier != "":
		n.ask(s.Object, "", "create")
	}
	if s.Expect.UID != "" || s.Of != "" { // it waits until that object is gone
		n.ask(s.Object, polls, "list", "watch")
	}
	undone := n.plan.OnFailure != nil && n.plan.OnFailure.Rollback != nil
	if undone && n.resource(stage, s) || n.in.Options.CleanupOnFail && stage == StageResources {
		n.ask(s.Object, "it stays in the cluster if the operation fails", "delete")
	}
}

// record adds what writing release records needs: a record is created once, then updated; those
// beyond the history limit are deleted at the end.
func (n *permissionCollector) record(s *Step) {
	resource := n.in.Records.Resource
	if resource == "" {
		return
	}
	id := manifest.ID{Kind: n.in.Records.Kind, Namespace: n.in.Records.Namespace}
	r := s.Record
	id.Name = n.in.Records.Names[r.Revision]
	switch {
	case r.Status.Pending() && r.Revision != n.plan.FromRevision:
		n.known(id, resource, "", "create")
	case n.in.Operation != Uninstall || n.in.Options.KeepHistory || s.ID == "record/pending":
		n.known(id, resource, "", "update")
	}
	otherwise := ""
	if n.in.Operation != Uninstall {
		otherwise = "old revisions are not removed"
	}
	for _, old := range r.Prune {
		id.Name = n.in.Records.Names[old]
		n.known(id, resource, otherwise, "delete")
	}
}

// LockRenewal returns the permission that a run needs to keep its lock, given
// the namespace and name of the Lease.
func LockRenewal(namespace, lease string) Permission { return onLease("update", namespace, lease) }

// LockPermissions returns the permissions that taking and keeping a lock may
// need, given the namespace and name of the Lease.
func LockPermissions(namespace, lease string) []Permission {
	return []Permission{
		LockReading(namespace, lease),
		onLease("create", namespace, ""), // create can't be limited to a name
		LockRenewal(namespace, lease),
	}
}

// LockReading returns the permission to see who holds a lock.
func LockReading(namespace, lease string) Permission { return onLease("get", namespace, lease) }

func onLease(verb, namespace, name string) Permission {
	return Permission{Verb: verb, Group: kinds.Lease.Group, Resource: "leases", Namespace: namespace, Name: name}
}
