package reconcile

import (
	"context"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Access says which cluster a release goes to, and as whom.
type Access struct {
	// Kubeconfig is the content of spec.kubeConfig's Secret; nil is the cluster that
	// HelmReleases are in.
	Kubeconfig []byte
	// User is impersonated: "system:serviceaccount:apps:deployer"; "" is nobody.
	User string
}

// Connection is a cluster that releases go to.
type Connection struct {
	Cluster engine.Cluster
	Records releasestore.Client
	// Locker is the same for all passes: it has to see that holders are gone.
	Locker *releasestore.Locker
}

// Connector gives connections. It keeps those that are used again. Errors: a kubeconfig
// that is of no use, or runs programs.
type Connector func(ctx context.Context, a Access) (*Connection, error)
