package kinds

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A kind is in one row, and looking it up by name finds the same as looking it up by
// group, if both know something.
func TestEachKindHasOneRow(t *testing.T) {
	seen := map[schema.GroupKind]bool{}
	for _, k := range All() {
		if seen[k.GroupKind] {
			t.Errorf("%s stands in the table twice", k.GroupKind)
		}
		seen[k.GroupKind] = true
		if _, known := groups[k.Group]; !known {
			t.Errorf("%s is of a group whose scope is not known", k.GroupKind)
		}
		if first := Named(k.Kind); first.GroupKind != k.GroupKind && k.Tiers != (Tiers{}) {
			t.Errorf("%s has a tier that nobody finds: by name it is %s", k.GroupKind, first.GroupKind)
		}
	}
}

// Helm's two orders are of the same kinds, and these have tiers, which keep the orders
// except for Service, which installs early. So has RuntimeClass, without which Pods are refused.
func TestTiersKeepHelmsOrders(t *testing.T) {
	var listed []string
	for kind := range installOrder {
		if _, both := uninstallOrder[kind]; !both || len(installOrder) != len(uninstallOrder) {
			t.Errorf("%s is in one of Helm's orders only", kind)
		}
		if !strings.HasSuffix(kind, "List") {
			listed = append(listed, kind)
		}
	}
	for _, k := range All() {
		if has := k.Tiers != (Tiers{}); has != (slices.Contains(listed, k.Kind) || k.GroupKind == RuntimeClass) && Named(k.Kind).GroupKind == k.GroupKind {
			t.Errorf("%s: it has a tier: %v", k.GroupKind, has)
		}
		if has := k.Tiers.Install(); has < 0 || has >= Waves {
			t.Errorf("%s installs in wave %d of %d", k.GroupKind, has, Waves)
		}
	}
	for _, a := range listed {
		for _, b := range listed {
			if InstallLess(a, b) && b != Service.Kind && Named(a).Tiers.Install() > Named(b).Tiers.Install() && !roleBeforeBinding(a, b) {
				t.Errorf("Helm installs %s before %s, and the tiers do not", a, b)
			}
			if UninstallLess(a, b) && Named(a).Tiers.Uninstall() > Named(b).Tiers.Uninstall() && !roleBeforeBinding(b, a) {
				t.Errorf("Helm removes %s before %s, and the tiers do not", a, b)
			}
		}
	}
}

// roleBeforeBinding is the exception: Helm sends ClusterRoleBindings before Roles, but
// they do not need each other, so all roles are one tier.
func roleBeforeBinding(a, b string) bool {
	return a == "ClusterRoleBinding" && b == "Role"
}

// Unknown kinds come last, in both directions.
func TestUnknownKindsComeLast(t *testing.T) {
	widget := Named("Widget")
	for _, k := range All() {
		if k.Tiers != (Tiers{}) && (k.Tiers.Install() >= widget.Tiers.Install() || k.Tiers.Uninstall() >= widget.Tiers.Uninstall()) {
			t.Errorf("%s does not come before a kind that nobody knows", k.GroupKind)
		}
	}
	if !InstallLess("Service", "Aardvark") || !UninstallLess("Namespace", "Aardvark") || !InstallLess("Aardvark", "Widget") {
		t.Error("kinds that nobody knows come last, by name")
	}
}

// A kind of another group is a different kind: nothing is lost with it, refused or masked.
func TestGroupsMatter(t *testing.T) {
	for _, k := range All() {
		other := Of(schema.GroupKind{Group: "example.com", Kind: k.Kind})
		if other.Holds != "" || other.Stateful || other.InChart || other.NamesAPI || other.Immutable.ByRule || other.Immutable.Spec || len(other.Immutable.Fields) > 0 {
			t.Errorf("%s of example.com is taken for %s", k.Kind, k.GroupKind)
		}
		if named := Named(k.Kind); named.Kind != k.Kind {
			t.Errorf("Named(%s) is %s", k.Kind, named.GroupKind)
		}
	}
}

// Columns that belong together agree.
func TestRowsAgreeWithThemselves(t *testing.T) {
	for _, k := range All() {
		switch {
		case k.Stateful && k.Holds == "":
			t.Errorf("%s: a change deserves a look for its data, and it holds none", k.GroupKind)
		case k.InChart && k.Holds != "":
			t.Errorf("%s: all of it is in the chart, and %s is lost with it", k.GroupKind, k.Holds)
		case len(k.Immutable.Mutable) > 0 && !k.Immutable.Spec:
			t.Errorf("%s: some of its spec can change, and nothing says that the rest can't", k.GroupKind)
		case k.RunsToItsEnd && k.Readiness != ByRule:
			t.Errorf("%s: it runs to its end, and no rule sees that", k.GroupKind)
		}
		if cluster, known := Scope(k.GroupKind); !known || k.ClusterScoped && !cluster {
			t.Errorf("%s: its scope is %v, known %v", k.GroupKind, cluster, known)
		}
	}
	if _, known := Scope(schema.GroupKind{Group: "example.com", Kind: "Node"}); known {
		t.Error("the scope of a custom kind is known")
	}
}
