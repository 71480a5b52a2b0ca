package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// vendors is a cluster with a vendor's version.
type vendors struct{ *clusterfake.Cluster }

func (c vendors) Facts(ctx context.Context) (cluster.Facts, error) {
	facts, err := c.Cluster.Facts(ctx)
	facts.KubeVersion = templating.KubeVersion{Version: "v1.33.4-eks-abc123", Major: "1", Minor: "33+"}
	return facts, err
}

// telling returns a chart with a constraint on the version of Kubernetes and one ConfigMap.
func telling(constraint, text string) Source {
	return Source{Chart: &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "telling", Version: "1.0.0", KubeVersion: constraint},
		Templates: []*chart.File{{Name: "templates/web.yaml", Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  text: '` + text + `'
`)}},
	}}
}

const versionText = `{{ with .Capabilities.KubeVersion }}{{ . }} {{ .Version }} {{ .GitVersion }} {{ .Major }}.{{ .Minor }}{{ end }}`

// Templates and constraints see the cluster's version as it is, in plans with and without a baseline
// (Helm 4.3.1, pkg/action/action.go: getCapabilities, renderResources).
func TestVersionsOfVendors(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = vendors{c}
		p, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: telling(">=1.25.0-0", versionText)})
		if err != nil {
			t.Fatal(err)
		}
		const want = "v1.33.4-eks-abc123 v1.33.4-eks-abc123 v1.33.4-eks-abc123 1.33+"
		if got := p.Record.Manifest; !strings.Contains(got, want) {
			t.Errorf("rendered\n%s\nwant %s", got, want)
		}
		if p.KubeVersion != "v1.33.4-eks-abc123" {
			t.Errorf("the plan says Kubernetes %s", p.KubeVersion)
		}
		_, err = b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: telling(">=1.25.0", versionText)})
		if err == nil || !strings.Contains(err.Error(), "this is v1.33.4-eks-abc123, whose suffix makes it a pre-release") {
			t.Errorf("a range without pre-releases gives %v", err)
		}
	})
}

// The version that --kube-version gives is shown and compared without its suffix (Helm 4.3.1,
// pkg/chart/common/capabilities.go, ParseKubeVersion).
func TestGivenVersions(t *testing.T) {
	caps := templating.DefaultCapabilities()
	var err error
	if caps.KubeVersion, err = templating.ParseKubeVersion("v1.33.4-eks-abc123"); err != nil {
		t.Fatal(err)
	}
	d := Deployment{Release: webKey, Source: telling(">=1.25.0", versionText)}
	p, err := PlanOffline(t.Context(), Offline{Capabilities: caps}, "", d, Baseline{Against: plan.Against{Kind: plan.AgainstNothing}, AsInstall: true, Source: Source{Reuse: values.ResetValues}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Record.Manifest, "v1.33.4 v1.33.4-eks-abc123 v1.33.4-eks-abc123 1.33'"; !strings.Contains(got, want) {
		t.Errorf("rendered\n%s\nwant %s", got, want)
	}
}

// lame is a cluster one of whose aggregated API servers is down.
type lame struct{ *clusterfake.Cluster }

func (c lame) Facts(ctx context.Context) (cluster.Facts, error) {
	facts, err := c.Cluster.Facts(ctx)
	facts.APIVersions = append(facts.APIVersions, "broken.io/v1")
	facts.Undiscovered = map[string]string{"broken.io/v1": "the server is down", "lost.io": "the server is lost"}
	return facts, err
}

// S28: templates can't ask whether an API has a kind while it can't be discovered: what depends on it
// would not be rendered, and so be deleted.
func TestKindsOfUndiscoveredAPIs(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = lame{c}
		for asked, says := range map[string]string{
			"broken.io/v1":        "",
			"broken.io/v2":        "",
			"broken.io/v1/Thing":  "the API broken.io/v1 can't be discovered: the server is down",
			"lost.io/v1":          "the API lost.io can't be discovered: the server is lost",
			"lost.io/v1/Thing":    "the API lost.io can't be discovered: the server is lost",
			"apps/v1/Nope":        "",
			"not.broken.io/v1/It": "",
		} {
			for _, how := range []string{"%s.Has %q", "%[1]s | has %[2]q", "mustHas %[2]q %[1]s"} {
				question := fmt.Sprintf(how, ".Capabilities.APIVersions", asked)
				_, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: telling("", "{{ "+question+" }}")})
				if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), "telling/templates/web.yaml:5") || !strings.Contains(err.Error(), says)) {
					t.Errorf("%s gives %v, want %q", question, err, says)
				}
			}
		}
	})
}
