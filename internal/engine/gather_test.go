package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

var errUnanswered = errors.New("the API server did not answer in time")

// hung is a cluster that says nothing about itself.
type hung struct{ Cluster }

func (hung) Facts(context.Context) (cluster.Facts, error) { return cluster.Facts{}, errUnanswered }

// hungRecords lists no Secrets before the request is given up.
type hungRecords struct{ corev1client.CoreV1Interface }

func (h hungRecords) Secrets(namespace string) corev1client.SecretInterface {
	return hungSecrets{h.CoreV1Interface.Secrets(namespace)}
}

type hungSecrets struct{ corev1client.SecretInterface }

func (hungSecrets) List(ctx context.Context, _ metav1.ListOptions) (*corev1.SecretList, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// hungAnswers is a cluster that answers no dry run, nor what else is asked meanwhile.
type hungAnswers struct{ Cluster }

func (hungAnswers) Predict(context.Context, []*plan.Step, apply.WriteOptions) (map[string]plan.Prediction, error) {
	return nil, errUnanswered
}

func (hungAnswers) Access(ctx context.Context, _ []plan.Permission) plan.Access {
	<-ctx.Done()
	return plan.Access{Unchecked: "it was not asked"}
}

// When a cluster has been given up, nobody waits for the history as well.
func TestGivenUpOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		store, err := releasestore.Open(hungRecords{b.client.CoreV1()}, "secret", releasestore.SystemClock{})
		if err != nil {
			t.Fatal(err)
		}
		b.Cluster, b.Store = hung{}, store
		began := time.Now()
		if _, err := b.PlanUninstall(t.Context(), webKey, Uninstall{}); !errors.Is(err, errUnanswered) {
			t.Errorf("error %v, want the cluster's", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it waited for %s more", took)
		}
	})
}

// Nor does anybody wait for what is asked beside dry runs that were given up.
func TestDryRunsGivenUp(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = hungAnswers{c}
		if _, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: shop(nil)}); !errors.Is(err, errUnanswered) {
			t.Errorf("error %v, want the cluster's", err)
		}
	})
}
