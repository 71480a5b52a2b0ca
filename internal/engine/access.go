package engine

import (
	"context"

	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// access asks the API server which of the permissions that the plan needs are denied.
func (e *Engine) access(ctx context.Context, needed []plan.Permission) plan.Access {
	if len(needed) == 0 {
		return plan.Access{}
	}
	return e.Cluster.Access(ctx, needed)
}

// nameRecords fills in where the plan's records and its lock are.
func (e *Engine) nameRecords(in *plan.Input) {
	if e.Locker != nil {
		in.LockName = releasestore.LeaseName(in.Release.Name)
	}
	if e.Store == nil {
		return
	}
	in.Records = plan.Records{Kind: e.Store.Kind(), Namespace: e.Store.Namespace(in.Release.Namespace), Names: map[int]string{}}
	switch in.Records.Kind {
	case "Secret":
		in.Records.Resource = "secrets"
	case "ConfigMap":
		in.Records.Resource = "configmaps"
	}
	for _, r := range in.History {
		in.Records.Names[r.Version] = releasestore.ObjectName(r.Name, r.Version)
	}
	for _, c := range in.Corrupt {
		in.Records.Names[c.Revision] = releasestore.ObjectName(in.Release.Name, c.Revision)
	}
	if in.Target != nil {
		r := in.Target.Record
		in.Records.Names[r.Version] = releasestore.ObjectName(r.Name, r.Version)
	}
}
