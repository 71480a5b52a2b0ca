package composition_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
)

// Checks 4, 11, 12 and 13 of FLUX.md: what is composed of the objects of each
// step has the digest that helm-controller attempted.
func TestComposedValuesHaveTheDigestOfTheTraces(t *testing.T) {
	checked := 0
	for _, trace := range fluxtest.Traces(t) {
		for _, step := range trace.Steps {
			hr := step.HelmRelease
			if hr == nil || hr.Spec.Suspend || len(step.Conditions) == 0 {
				continue
			}
			got, err := composition.Compose(hr, func(ref flux.ValuesReference) ([]byte, composition.Found) {
				data, ok := step.Data(ref.Kind, hr.Metadata.Namespace, ref.Name, ref.Key())
				if !ok {
					return nil, composition.Missing
				}
				return data, composition.Known
			})
			failed := slices.Contains(step.Conditions, "Ready False ValuesError")
			var refused *composition.Error
			if failed != errors.As(err, &refused) {
				t.Errorf("%s: error %v, and the trace says ValuesError: %t", step.Name, err, failed)
			}
			if err != nil || hr.Status.LastAttemptedGeneration != hr.Metadata.Generation {
				continue
			}
			sum, err := digest.Values(got.Values)
			if err != nil {
				t.Fatal(err)
			}
			if checked++; sum != hr.Status.LastAttemptedConfigDigest {
				t.Errorf("%s: digest %s, want %s of %v", step.Name, sum, hr.Status.LastAttemptedConfigDigest, got.Values)
			}
			for _, note := range got.Notes {
				t.Logf("%s: %s", step.Name, note)
			}
		}
	}
	t.Logf("%d steps", checked)
}
