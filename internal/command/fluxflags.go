package command

import (
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/setrun"
)

// fluxFlags say how Flux's files are read.
type fluxFlags struct {
	kustomizations, noCrossNamespace, strict bool

	sources cli.StringSlice
}

func (o *fluxFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "flux", Destination: &o.kustomizations, Usage: "FILE is a folder that Flux starts from: its Kustomizations are built, and their HelmReleases planned", Category: setCategory},
		&cli.StringSliceFlag{Name: "source", Destination: &o.sources, Usage: "the chart or tree of a Flux source that is not in the repository, as `KIND/NAMESPACE/NAME=DIR`, or an archive (.tgz); a GitRepository at the root is the repository itself (repeatable)", Category: setCategory},
		&cli.BoolFlag{Name: "no-cross-namespace-refs", Destination: &o.noCrossNamespace, Usage: "plan for a helm-controller with this flag: it refuses charts whose source is in another namespace than the HelmRelease", Category: setCategory},
		&cli.BoolFlag{Name: "strict-post-build-substitutions", Destination: &o.strict, Usage: "plan for a kustomize-controller with the feature gate StrictPostBuildSubstitutions: it refuses variables that are not set", Category: setCategory},
	}
}

// add applies the flags to the reading of a set. The path of a source inside root becomes relative
// to root, that of any other absolute.
func (o *fluxFlags) add(to *setrun.Reading, root string) error {
	to.Flux, to.Sources = o.kustomizations, map[string]string{}
	to.NoCrossNamespaceRefs, to.StrictSubstitutions = o.noCrossNamespace, o.strict
	for _, arg := range o.sources.Value() {
		name, place, ok := strings.Cut(arg, "=")
		if !ok || place == "" || strings.Count(name, "/") != 2 {
			return usage("--source %q is not of the form KIND/NAMESPACE/NAME=DIR", arg)
		}
		within, err := setrun.Within(root, place)
		if err != nil {
			if within, err = filepath.Abs(place); err != nil {
				return err
			}
		}
		to.Sources[name] = within
	}
	return nil
}
