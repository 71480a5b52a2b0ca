package command

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
)

// readerFlags are the flags for plans by a user who may read but not write.
type readerFlags struct {
	readOnly    bool
	judged      string
	judgedGroup cli.StringSlice
}

func (o *readerFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "read-only", Destination: &o.readOnly, Usage: "plan without dry runs, for users who may only read: outcomes are estimated, and permissions are not checked", Category: planCategory},
		notEmpty(&cli.StringFlag{Name: "judge-as", Destination: &o.judged, Usage: "plan as with --read-only, and check that this `USER`, who is going to apply it, may do so: system:serviceaccount:NAMESPACE:NAME, or a name; needs permission to create subjectaccessreviews", Category: planCategory}),
		&cli.StringSliceFlag{Name: "judge-as-group", Destination: &o.judgedGroup, Usage: "with --judge-as: a `GROUP` of that user; those of service accounts are known (repeatable)", Category: planCategory},
	}
}

func (o *readerFlags) check() error {
	if len(o.judgedGroup.Value()) > 0 && o.judged == "" {
		return usage("--judge-as-group needs --judge-as: the user whose group it is")
	}
	return nil
}

// subject returns the user whose permissions are checked, with the groups that the API server adds
// for every user and for service accounts
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/).
func (o *readerFlags) subject() plan.Subject {
	groups := append(o.judgedGroup.Value(), "system:authenticated")
	if account, ok := strings.CutPrefix(o.judged, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return plan.Subject{User: o.judged, Groups: groups}
}

// apply makes the session's plans read-only, without dry runs, if the flags ask for that.
func (o *readerFlags) apply(s *session) {
	s.engine.ReadOnly = o.readOnly || o.judged != ""
	if o.judged != "" {
		s.engine.Applier = o.judged
		s.engine.Cluster = judging{s.engine.Cluster, s.cluster, o.subject()}
	}
}

// judging is a cluster whose permissions are checked for another user.
type judging struct {
	engine.Cluster
	api api
	who plan.Subject
}

// Access implements engine.Cluster.
func (j judging) Access(ctx context.Context, needed []plan.Permission) plan.Access {
	return j.api.AccessOf(ctx, j.who, needed)
}
