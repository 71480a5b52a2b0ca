package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// approvalsFlags are the flags of approvals.
type approvalsFlags struct {
	outputFlags
	allNamespaces bool
}

func (o *approvalsFlags) flags() []cli.Flag {
	return []cli.Flag{
		o.flag(),
		&cli.BoolFlag{Name: "all-namespaces", Destination: &o.allNamespaces, Aliases: []string{"A"}, Usage: "in all namespaces"},
	}
}

func (p *program) approvalsCommand() *cli.Command {
	var o approvalsFlags
	return &cli.Command{
		Name: "approvals", Usage: "list the plans of HelmReleases that wait for approval",
		Description: describe("Lists the HelmReleases whose plan kubectl-release-controller holds until somebody approves it:\nwhat it would do, when it began to wait, and the command to approve it. Nothing is approved here.",
			"kubectl release approvals -A\nkubectl release approvals -n shop -o json"),
		Flags:  o.flags(),
		Action: p.readOnly(takes(0, 0, func(ctx context.Context, _ []string) error { return p.approvals(ctx, &o) })),
	}
}

// approvals lists the plans that are waiting for approval, the longest-waiting first.
func (p *program) approvals(ctx context.Context, o *approvalsFlags) error {
	format, err := o.format()
	if err != nil {
		return err
	}
	s, err := p.connect()
	if err != nil {
		return err
	}
	namespace := s.namespace
	if o.allNamespaces {
		namespace = ""
	}
	found, err := s.cluster.Lookup(ctx, flux.HelmGroup+"/v2", flux.KindHelmRelease, namespace, "")
	if err != nil {
		return fmt.Errorf("list HelmReleases: %w", err)
	}
	list, err := found.ToList()
	if err != nil {
		return fmt.Errorf("read the list of HelmReleases: %w", err)
	}
	waiting := []flux.Approval{}
	for _, item := range list.Items {
		hr, err := flux.DecodeHelmRelease(item.Object)
		if err != nil {
			p.warn(fmt.Sprintf("HelmRelease %s/%s can't be read: %s", item.GetNamespace(), item.GetName(), err))
			continue
		}
		if a, waits := flux.ApprovalOf(hr); waits {
			waiting = append(waiting, a)
		}
	}
	slices.SortFunc(waiting, func(a, b flux.Approval) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if format != "text" {
		return p.structured(format, waiting)
	}
	if len(waiting) == 0 {
		fmt.Fprintln(p.streams.Out, "No plan is waiting for approval.")
	}
	for _, a := range waiting {
		fmt.Fprintf(p.streams.Out, "%s/%s, since %s: %s\n  %s\n", escape.Line(a.Namespace), escape.Line(a.Name), localTime(a.Since), escape.Line(a.What), escape.Line(a.Command))
	}
	return nil
}
