package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
)

// A helm-controller that starts later than this process, on the same HelmReleases, ends it.
func TestCheck48RivalsThatStartLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := fake.NewClientset().CoordinationV1().Leases("flux-system")
		w := &rivalWatch{leases: leases, namespace: "flux-system", pause: 35 * time.Second, now: time.Now}
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { ended <- w.Start(ctx) }()
		lease := func(name, holder string) {
			seconds, at := int32(35), metav1.NowMicro()
			if _, err := leases.Create(ctx, &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at, LeaseDurationSeconds: &seconds},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		lease(leaseName(""), ours+"pod_1")
		time.Sleep(10 * time.Minute)
		if len(ended) != 0 {
			t.Fatalf("it has ended: %v", <-ended)
		}
		lease(leaseName("sharding.fluxcd.io/key=one"), "helm-controller-5f_6c")
		time.Sleep(time.Minute)
		if held := (*HeldError)(nil); len(ended) != 1 || !errors.As(<-ended, &held) || held.Holder != "helm-controller-5f_6c" {
			t.Errorf("it goes on: %v", held)
		}
	})
}

// kindsOf is a mapper that knows some kinds.
type kindsOf struct {
	meta.RESTMapper
	known []string
}

func (k *kindsOf) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if slices.Contains(k.known, gk.Kind) {
		return &meta.RESTMapping{}, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
}

// A kind of source that is installed after the process has started is watched from then on.
func TestSourceKindsThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var watched []string
		has := &kindsOf{known: []string{"HelmChart"}}
		l := &lateKinds{mapper: has, pause: latePause, log: logr.Discard(), watch: func(kind string) error {
			watched = append(watched, kind)
			return nil
		}}
		for _, kind := range []string{"HelmChart", "OCIRepository"} {
			if err := l.add(kind); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(watched, []string{"HelmChart"}) {
			t.Errorf("%v is watched", watched)
		}
		ended := make(chan error, 1)
		go func() { ended <- l.Start(t.Context()) }()
		time.Sleep(time.Hour)
		has.known = append(has.known, "OCIRepository")
		time.Sleep(latePause)
		synctest.Wait()
		if !slices.Equal(watched, []string{"HelmChart", "OCIRepository"}) || len(ended) != 1 {
			t.Errorf("%v is watched", watched)
		}
	})
}
