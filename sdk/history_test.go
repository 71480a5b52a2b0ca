package sdk

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// A record that can't be read is left out of the history, with a warning.
func TestHistoryWithAHole(t *testing.T) {
	api, ctx := clusterfake.Clientset().CoreV1(), t.Context()
	store, err := releasestore.Open(api, "secret", releasestore.SystemClock{})
	fine(t, err)
	for version, status := range []release.Status{release.StatusSuperseded, release.StatusDeployed} {
		fine(t, store.Create(ctx, &release.Revision{Name: "web", Namespace: "shop", Version: version + 1, Info: release.Info{Status: status}}))
	}
	old, err := api.Secrets("shop").Get(ctx, releasestore.ObjectName("web", 1), metav1.GetOptions{})
	fine(t, err)
	old.Data["release"] = []byte("garbage")
	_, err = api.Secrets("shop").Update(ctx, old, metav1.UpdateOptions{})
	fine(t, err)

	var told []string
	client := &Client{engine: &engine.Engine{Store: store}, warn: func(text string) { told = append(told, text) }}
	history, err := client.History(ctx, Release{Namespace: "shop", Name: "web"})
	if err != nil || len(history) != 1 || history[0].Revision != 2 {
		t.Errorf("%+v, error %v", history, err)
	}
	const unread = "the record of web revision 1 (Secret shop/sh.helm.release.v1.web.v1) can't be read: "
	if len(told) != 1 || fmt.Sprintf("%.*s", len(unread), told[0]) != unread {
		t.Errorf("told %q", told)
	}
}
