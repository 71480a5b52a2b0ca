package apply_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// An uninstall that can't delete the namespace of its records is recorded as failed, and the next one deletes it.
// Nothing is recorded after that, as the records go with it; the outcome is that the release is uninstalled.
func TestTheNamespaceOfTheRecordsIsDeletedLast(t *testing.T) {
	w := clusterfake.New()
	text := "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n"
	if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, text)), w.Env()); err != nil {
		t.Fatal(err)
	}
	uninstall := func(in apply.Cluster) (release.Status, error) {
		w.Log = nil
		p, env := planned(t, w, plan.Uninstall, nil), w.Env()
		env.Cluster = in
		outcome, err := apply.Run(t.Context(), p, env)
		return outcome.Revision.Info.Status, err
	}
	status, err := uninstall(failing{Cluster: w, deletion: "shop"})
	if err == nil || status != release.StatusFailed {
		t.Fatalf("%s, %v", status, err)
	}
	if said := w.Records[1].Info.Description; !strings.HasPrefix(said, release.UninstallFailed("web")+"delete Namespace/shop") {
		t.Errorf("the record says %q", said)
	}
	status, err = uninstall(w)
	if err != nil || status != release.StatusUninstalled || len(w.Objects) > 0 {
		t.Errorf("%s, %v, %v", status, err, w.Objects)
	}
	if got := strings.Join(w.Log, ", "); got != "record 1 uninstalling, delete Namespace/shop" {
		t.Errorf("it wrote %q", got)
	}
}

// unserved is a cluster that does not serve the kind of an object at first.
type unserved struct {
	*clusterfake.Cluster
	misses int
}

func (c *unserved) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	if c.misses--; c.misses >= 0 {
		return &meta.NoKindMatchError{GroupKind: ref.GroupKind()}
	}
	return c.Cluster.Delete(ctx, ref, o)
}

// A kind that the cluster does not serve at the moment is asked for again. One that it still does not serve is gone,
// with its objects.
func TestDeletionOfAKindThatIsNotServed(t *testing.T) {
	for misses, deleted := range map[int]bool{3: true, 100: false} {
		w := clusterfake.New()
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n"
		if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, text)), w.Env()); err != nil {
			t.Fatal(err)
		}
		p, env := planned(t, w, plan.Uninstall, nil), w.Env()
		env.Cluster = &unserved{Cluster: w, misses: misses}
		outcome, err := apply.Run(t.Context(), p, env)
		if err != nil || outcome.Revision.Info.Status != release.StatusUninstalled || (len(w.Objects) == 0) != deleted {
			t.Errorf("%d misses: error %v, objects %v", misses, err, w.Objects)
		}
	}
}
