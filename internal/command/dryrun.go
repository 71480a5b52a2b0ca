package command

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// dryRun reports whether --dry-run asks for a plan instead of a run. As in Helm 4.3.1
// (pkg/cmd/helpers.go, cmdGetDryRunFlagStrategy), the value may be a boolean of any spelling.
func dryRun(text string) (bool, error) {
	switch text {
	case "", "none":
		return false, nil
	case "unset", "client", "server":
		return true, nil
	}
	dry, err := strconv.ParseBool(text)
	if err != nil {
		return false, usage("--dry-run=%s: must be none, client or server", text)
	}
	return dry, nil
}

// showDryRun shows the plan of a run of the release called name.
func (p *program) showDryRun(o *runFlags, name string, prepare func(*session) (*plan.Plan, error)) error {
	s, err := p.connect()
	if err != nil {
		return p.reportImpossible(&o.show, p.offlineKey(name), err)
	}
	made, err := prepare(s)
	if errors.Is(err, errMayBeAbsent) {
		return nil
	}
	if err == nil {
		made, err = p.withEffect(&o.effect, made)
	}
	if err != nil {
		return p.reportImpossible(&o.show, s.key(name), err)
	}
	return cmp.Or(p.showResult(&o.show, made), p.approved(&o.effect, made))
}

// installOffline is install --dry-run=client: it asks no cluster and prints what template prints. Flags for
// a plan are checked, though there is none: a line that passes here is to pass without --dry-run, too.
func (p *program) installOffline(ctx context.Context, o *installFlags, name, path string) error {
	switch f := o.show.output; {
	case !o.show.isText():
		return usage("--dry-run=client prints the manifest; with -o %s give --dry-run=server, which shows the plan", f)
	case len(o.show.reports.Value()) > 0 || o.effect.expect != "":
		return usage("--report and --expect-effect are about a plan, and --dry-run=client prints the manifest: give --dry-run=server, which makes the plan")
	}
	if _, err := o.planOptions(); err != nil {
		return err
	}
	if _, err := o.options.method(); err != nil {
		return err
	}
	t := templateFlags{source: o.source, noHooks: o.options.NoHooks}
	_, r, err := p.rendered(ctx, &t, name, path)
	if err != nil {
		return err
	}
	resources, hooks := t.documents(r)
	if o.hideSecret {
		resources, hooks = hideSecrets(resources), hideSecrets(hooks)
	}
	return p.printRendered(&t, resources, hooks)
}

// hideSecrets replaces documents with a Secret, or that can't be parsed, with a comment, as Helm
// 4.3.1 does (pkg/action/action.go); but Helm prints Secrets that are hooks.
func hideSecrets(docs []manifest.Document) []manifest.Document {
	docs = slices.Clone(docs)
	for i, d := range docs {
		objects, err := manifest.ParseDocument(d.Text, d.Path)
		if err != nil || slices.ContainsFunc(objects, func(o manifest.Object) bool { return o.GroupKind() == kinds.Secret }) {
			docs[i].Text = "# HIDDEN: The Secret output has been suppressed\n"
		}
	}
	return docs
}
