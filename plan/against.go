package plan

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// AgainstKind says what a comparison uses in place of live objects.
type AgainstKind string

const (
	// AgainstRevision is a stored revision of the release.
	AgainstRevision AgainstKind = "revision"
	// AgainstFile is a file of rendered YAML.
	AgainstFile AgainstKind = "file"
	// AgainstPlan is the state that a saved plan leads to.
	AgainstPlan AgainstKind = "plan"
	// AgainstChart is another chart, or the same one with other values.
	AgainstChart AgainstKind = "chart"
	// AgainstNothing is used where the release does not exist yet.
	AgainstNothing AgainstKind = "nothing"
)

// Against is the baseline of a plan that was not compared with the cluster's
// live objects. Such a plan shows no drift, all its outcomes are estimates,
// and it can't be applied.
type Against struct {
	Kind AgainstKind `json:"kind"`
	// Name is the baseline as the user named it: "7", "base.yaml", "./chart".
	Name string `json:"name"`
	// Offline says that no request was sent to a cluster.
	Offline bool `json:"offline"`
	// Chart is the chart of the baseline, as far as it is known.
	Chart ChartRef `json:"-"`
}

// String names what was compared with, for titles and errors: "revision 7",
// "the file base.yaml".
func (a Against) String() string {
	switch a.Kind {
	case AgainstRevision:
		return "revision " + a.Name
	case AgainstPlan:
		return "the saved plan " + a.Name
	case AgainstChart:
		return "the chart " + a.Name
	case AgainstNothing:
		if a.Name == "" {
			return "nothing"
		}
		return a.Name + ", which does not have it"
	case AgainstFile:
		if a.Name == "-" {
			return "standard input"
		}
	}
	return "the file " + a.Name
}

// ComparedError says that a plan is a comparison, which can't be applied.
type ComparedError struct{ Against Against }

func (e *ComparedError) Error() string {
	how := "without looking at the cluster's objects"
	if e.Against.Offline {
		how = "offline"
	}
	return fmt.Sprintf("the plan was made %s, against %s: it is for reading and can't be applied", how, e.Against)
}

// Applicable returns nil for a plan that was made against live objects, even a
// blocked one, and a *ComparedError for one that was compared with something else.
func (p *Document) Applicable() error {
	if p.Against == nil {
		return nil
	}
	return &ComparedError{Against: *p.Against}
}

// Unmoved returns the live state that objects have when nothing has changed them since they were
// sent: the stored objects plus the release's ownership labels and annotations. more lists further
// objects, such as CRDs, that carry no ownership metadata.
func Unmoved(stored []StoredObject, more []manifest.Object, key release.Key) map[manifest.ID]Observation {
	live := make(map[manifest.ID]Observation, len(stored)+len(more))
	for _, o := range more {
		live[o.ID] = Observation{Object: o.Doc}
	}
	for _, s := range stored {
		live[s.ID] = Observation{Object: owned(serverfields.WithoutStringData(s.Latest().Doc), key)}
	}
	return live
}

// compared marks the outcomes and checks that are only estimates in a comparison.
func (b *builder) compared() {
	if b.in.Against == nil {
		return
	}
	b.plan.Steps(func(_ StageName, s *Step) {
		if s.Fidelity == FidelityExact {
			s.Fidelity = FidelityEstimated
		}
		if s.Estimate == "" && s.Fidelity == FidelityEstimated {
			s.Estimate = NotAsked
		}
	})
}
