package command

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/templating"
)

// capabilityFlags are the capabilities that templates see when no cluster is asked.
type capabilityFlags struct {
	kubeVersion optional[string]
	apiVersions cli.StringSlice
}

// flags returns the flags; usage is the help of --kube-version.
func (o *capabilityFlags) flags(usage string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kube-version", Destination: &o.kubeVersion.value, Action: o.kubeVersion.note, Usage: usage},
		&cli.StringSliceFlag{Name: "api-versions", Destination: &o.apiVersions, Aliases: []string{"a"}, Usage: "API `VERSION` that templates see besides the built-in ones (repeatable)"},
	}
}

// capabilities returns the default capabilities, changed by the flags.
func (o *capabilityFlags) capabilities() (*templating.Capabilities, error) {
	caps := templating.DefaultCapabilities()
	return caps, o.change(caps)
}

// live returns the cluster's capabilities with a chart's CRDs, changed by the flags, and the APIs
// that can't be discovered.
func (o *capabilityFlags) live(ctx context.Context, s *session, crds []manifest.Object) (caps *templating.Capabilities, undiscovered map[string]string, err error) {
	caps, undiscovered, err = s.engine.Capabilities(ctx, crds)
	if err != nil {
		return nil, nil, err
	}
	return caps, undiscovered, o.change(caps)
}

// change sets the Kubernetes version and adds the API versions that the flags give.
func (o *capabilityFlags) change(caps *templating.Capabilities) error {
	if text := o.kubeVersion.value; text != "" {
		version, err := templating.ParseKubeVersion(text)
		if err != nil {
			return usage("--kube-version: %v", err)
		}
		caps.KubeVersion = version
	}
	more, err := commaSeparated("api-versions", o.apiVersions.Value())
	if err != nil {
		return err
	}
	caps.APIVersions = append(caps.APIVersions, more...)
	return nil
}
