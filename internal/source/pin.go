package source

import (
	"cmp"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Pin is what a plan keeps of where the chart is from. r is the reference that was
// found, named is how it was written.
func (f Fetched) Pin(r resolve.Reference, named string) *plan.ChartSource {
	pin := &plan.ChartSource{
		Reference: resolve.Public(named), Name: f.Name, Version: f.Version, URL: resolve.Public(f.URL),
		Digest: cmp.Or(f.Manifest, f.Digest), Fixed: r.Digest != "",
	}
	if r.Kind == resolve.Configured || r.Kind == resolve.Unconfigured {
		pin.Repository = resolve.Public(f.home)
	}
	return pin
}
