package controller

import (
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// rivalOf returns the name of the lease under which helm-controller, with the selector theirs, works on
// HelmReleases that this controller would work on with ours, or "".
func rivalOf(t *testing.T, ours, theirs, holder string, renewed time.Time) string {
	t.Helper()
	seconds, at := int32(35), metav1.NewMicroTime(renewed)
	client := fake.NewClientset(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: leaseName(theirs)},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at, LeaseDurationSeconds: &seconds},
	})
	found, err := rivals(t.Context(), client.CoordinationV1().Leases("flux-system"), ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range found {
		if foreign(&lease, time.Unix(1000, 0)) {
			return lease.Name
		}
	}
	return ""
}

// Check 48, for shards: a shard of ours does not start beside a helm-controller without shards, nor do we
// without shards beside any shard of helm-controller; shards with different selectors are replaced one by
// one.
func TestCheck48Shards(t *testing.T) {
	const one, two = "sharding.fluxcd.io/key=one", "sharding.fluxcd.io/key=two"
	const theirs = "helm-controller-5f_6c"
	lately := time.Unix(990, 0)
	for _, tc := range []struct {
		ours, theirs, holder string
		renewed              time.Time
		refused              bool
	}{
		{"", "", theirs, lately, true},
		{one, "", theirs, lately, true},
		{"", one, theirs, lately, true},
		{one, one, theirs, lately, true},
		{one, two, theirs, lately, false},
		{"", one, "", lately, false},
		{"", one, ours + "pod_1", lately, false},
		{one, "", theirs, time.Unix(900, 0), false},
	} {
		want := ""
		if tc.refused {
			want = leaseName(tc.theirs)
		}
		if got := rivalOf(t, tc.ours, tc.theirs, tc.holder, tc.renewed); got != want {
			t.Errorf("%+v: in the way is %q, want %q", tc, got, want)
		}
	}
}

// If leases may not be listed, the lease of a helm-controller without shards still counts.
func TestRivalsThatCanBeSeen(t *testing.T) {
	client := fake.NewClientset(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: leaseName("")}})
	client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "", errors.New("no"))
	})
	found, err := rivals(t.Context(), client.CoordinationV1().Leases("flux-system"), "")
	if len(found) != 1 || !apierrors.IsForbidden(err) {
		t.Errorf("%d leases, %v", len(found), err)
	}
}
