package engine

import (
	"context"
	"fmt"
	"regexp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Baseline replaces the live objects in a comparison. Kind says which of the
// other fields are used.
type Baseline struct {
	plan.Against
	// Revision is the number of a stored revision.
	Revision int
	// Manifest is rendered YAML, including hooks and CRDs. If it is empty, nothing is installed
	// yet.
	Manifest string
	// Saved is a plan that is treated as applied.
	Saved *plan.Plan
	// Source is another chart, or the same one with other values.
	Source Source
	// Broken is why the other chart or its values can't be read, without secrets; nil if they can. What it
	// deployed is then not known, as if it can't be rendered.
	Broken error
	// AsInstall renders both sides as an install, as helm template does.
	AsInstall bool
}

// base is the content of a baseline.
type base struct {
	// revision holds manifest, hooks, chart and values as far as they are known; nil if nothing is
	// installed.
	revision *release.Revision
	// crds are those of crds/ folders, which are not in the manifest.
	crds  []manifest.Object
	chart plan.ChartRef
	// partial says that there may be CRDs that are not in crds.
	partial bool
	// secrets are the contents of Secrets that the baseline's templates have read.
	secrets [][]byte
}

func (c comparison) base(ctx context.Context, g gathered, op plan.Operation) (base, error) {
	switch c.baseline.Kind {
	case plan.AgainstRevision:
		return c.storedBase(g.history)
	case plan.AgainstPlan:
		return c.savedBase()
	case plan.AgainstChart:
		return c.chartBase(ctx, g, op)
	case plan.AgainstFile:
		return c.fileBase()
	case plan.AgainstNothing:
		if c.baseline.Broken != nil {
			return c.unknownBase(), nil
		}
		return base{}, nil
	}
	return base{}, fmt.Errorf("compare %s: unknown kind of baseline %q", c.Release, c.baseline.Kind)
}

func (c comparison) storedBase(h release.History) (base, error) {
	if len(h) == 0 {
		return base{}, &NoReleaseError{Key: c.Release}
	}
	r := h.Revision(c.baseline.Revision)
	if r == nil {
		return base{}, &NoRevisionError{Key: c.Release, Revision: c.baseline.Revision}
	}
	crds, err := crdsOf(r)
	return base{revision: r.WithStatus(release.StatusDeployed, ""), crds: crds, chart: plan.ChartOf(r.Chart)}, err
}

func crdsOf(r *release.Revision) ([]manifest.Object, error) {
	if r.Chart == nil {
		return nil, nil
	}
	return manifest.ParseCRDs(r.Chart.CRDs())
}

func (c comparison) savedBase() (base, error) {
	saved := c.baseline.Saved
	if saved.Record == nil {
		return base{}, fmt.Errorf("%s is for %s, so there is nothing in it to compare with", c.baseline, saved.Operation)
	}
	crds, err := crdsOf(saved.Record)
	return base{revision: unstored(saved.Record), crds: append(crds, saved.CRDs...), chart: saved.ChartTo, secrets: saved.Secrets}, err
}

// chartBase renders the other chart under the same conditions as the target. Errors: *brokenError, see faulty.
func (c comparison) chartBase(ctx context.Context, g gathered, op plan.Operation) (base, error) {
	if c.baseline.Broken != nil {
		return base{}, &brokenError{c.baseline.Against, c.baseline.Broken}
	}
	d := c.Deployment
	d.Source = c.baseline.Source
	r, err := targetOf(ctx, d, g, op)
	if err != nil {
		return base{}, c.faulty(ctx, err)
	}
	return base{revision: unstored(r.Record), crds: r.CRDs, chart: r.Chart, secrets: d.Source.Secrets}, nil
}

// unstored returns a copy of a revision, as deployed and without a number.
func unstored(r *release.Revision) *release.Revision {
	out := r.WithStatus(release.StatusDeployed, "")
	out.Version = 0
	return out
}

// ofCRDs matches the files of the crds/ folders of a chart and its subcharts (Helm 4.3.1,
// pkg/chart/v2/chart.go, CRDObjects and ChartFullPath). A folder of that name elsewhere, such as
// templates/crds/, has templates, whose objects belong to the release.
var ofCRDs = regexp.MustCompile(`^[^/]+/(?:charts/[^/]+/)*crds/`)

// fileBase parses rendered YAML: objects, hooks, and the CRDs of crds/
// folders, which it recognises by the comment that names their source.
func (c comparison) fileBase() (base, error) {
	var files []manifest.File
	out := base{partial: true}
	for _, doc := range manifest.Split(c.baseline.Manifest) {
		source := manifest.SourceOf(doc)
		if ofCRDs.MatchString(source) {
			crds, err := manifest.ParseDocument(doc, source)
			if err != nil {
				return base{}, fmt.Errorf("read %s: %w", c.baseline, err)
			}
			out.crds = append(out.crds, crds...)
			continue
		}
		if source == "" {
			source = "a document"
		}
		files = append(files, manifest.File{Path: source, Content: doc})
	}
	classified, err := manifest.Classify(files)
	if err != nil {
		return base{}, fmt.Errorf("read %s: %w", c.baseline, err)
	}
	r := &release.Revision{
		Name: c.Release.Name, Namespace: c.Release.Namespace, Manifest: manifest.Text(classified.Documents),
		Info: release.Info{Status: release.StatusDeployed},
	}
	for _, h := range classified.Hooks {
		r.Hooks = append(r.Hooks, release.Hook{Hook: h})
	}
	objects, err := r.Objects()
	if err != nil {
		return base{}, fmt.Errorf("read %s: %w", c.baseline, err)
	}
	if len(objects)+len(r.Hooks)+len(out.crds) > 0 {
		out.revision = r
		return out, nil
	}
	return base{}, nil
}
