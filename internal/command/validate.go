package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/templating"
)

// view is what templates see of a cluster: defaults, or a real one.
type view struct {
	caps   *templating.Capabilities
	lookup templating.LookupFunc
	// undiscovered are the cluster's APIs that can't be discovered.
	undiscovered map[string]string
	namespace    string
	session      *session
}

// view returns what templates see; it asks the cluster if --validate or --dry-run=server is given,
// as in Helm 4.3.1.
func (p *program) view(ctx context.Context, o *templateFlags, source engine.Source) (view, error) {
	if dry, err := dryRun(o.dryRun); o.dryRun != "" && (err != nil || !dry) {
		return view{}, usage("--dry-run=%s: must be client or server", o.dryRun)
	}
	if !o.validate && o.dryRun != "server" {
		v := view{namespace: p.namespace()}
		var err, broken error
		v.caps, err = o.capable.capabilities()
		v.lookup, broken = p.lookup(o.lookup.value, v.namespace)
		return v, errors.Join(err, broken)
	}
	if o.lookup.given {
		return view{}, usage("--lookup can't be combined with --validate or --dry-run=server: with a cluster, templates see what it has")
	}
	s, err := p.connect()
	if err != nil {
		return view{}, err
	}
	crds, err := engine.EnabledCRDs(source.Chart, source.Values)
	if err != nil {
		return view{}, err
	}
	caps, undiscovered, err := o.capable.live(ctx, s, crds)
	return view{caps: caps, lookup: s.engine.Lookup(ctx), undiscovered: undiscovered, namespace: s.namespace, session: s}, err
}

// validate returns an error that names every object that the cluster refuses. It warns of checks
// that could not be made, and of hooks that can't be parsed.
func (p *program) validate(ctx context.Context, v view, rendered *chart.Chart, resources, hooks []manifest.Document) error {
	crds, err := manifest.ParseCRDs(rendered.CRDs())
	if err != nil {
		return err
	}
	objects, err := parsed(resources)
	if err != nil {
		return err
	}
	for i := range hooks {
		more, err := parsed(hooks[i : i+1])
		if err != nil {
			p.warn(fmt.Sprintf("a hook was not checked: %v", err))
		}
		objects = append(objects, more...)
	}
	verdicts, err := v.session.cluster.Validate(ctx, objects, crds, v.namespace)
	if err != nil {
		return err
	}
	var refused []string
	for _, verdict := range verdicts {
		object := fmt.Sprintf("%s of %s", verdict.Object.ID, verdict.Object.Source)
		switch {
		case verdict.Refused != "":
			refused = append(refused, fmt.Sprintf("\n  %s: %s", object, verdict.Refused))
		case verdict.Unasked != "":
			why := verdict.Unasked
			if verdict.SchemaErrors != "" {
				why += " and does not allow it: " + verdict.SchemaErrors
			}
			p.warn(fmt.Sprintf("%s was not checked: %s", object, why))
		}
	}
	if len(refused) > 0 {
		return errors.New("the cluster refuses " + report.Count(len(refused), "object", "objects") + ":" + strings.Join(refused, ""))
	}
	return nil
}

// parsed returns the objects of documents, each of which may be several.
func parsed(docs []manifest.Document) ([]manifest.Object, error) {
	var out []manifest.Object
	for _, d := range docs {
		for _, text := range manifest.Split(d.Text) {
			objects, err := manifest.ParseDocument(text, d.Path)
			if err != nil {
				return nil, err
			}
			out = append(out, objects...)
		}
	}
	return out, nil
}
