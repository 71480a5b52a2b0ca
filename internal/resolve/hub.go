package resolve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// HubHit is a chart found by searching a hub.
type HubHit struct {
	URL, Version, AppVersion, Description string
	// Repository is the name of the chart's repository, RepositoryURL its URL.
	Repository, RepositoryURL string
}

// HubSearch returns the URL for a search in the hub at an endpoint: Monocular's API, which Artifact
// Hub also serves (https://artifacthub.io/docs/api/).
func HubSearch(endpoint, words string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is not the URL of a hub", endpoint)
	}
	u = u.JoinPath("api", "chartsvc", "v1", "charts", "search")
	u.RawQuery = url.Values{"q": {words}}.Encode()
	return u.String(), nil
}

// ParseHub parses a hub's search response. A chart without a packageUrl gets a URL below the
// endpoint.
func ParseHub(endpoint string, data []byte) ([]HubHit, error) {
	var answer struct {
		Data []struct {
			ID          string `json:"id"`
			ArtifactHub struct {
				PackageURL string `json:"packageUrl"`
			} `json:"artifactHub"`
			Attributes struct {
				Description string `json:"description"`
				Repo        struct {
					Name string `json:"name"`
					URL  string `json:"url"`
				} `json:"repo"`
			} `json:"attributes"`
			Relationships struct {
				LatestChartVersion struct {
					Data struct {
						Version    string `json:"version"`
						AppVersion string `json:"app_version"`
					} `json:"data"`
				} `json:"latestChartVersion"`
			} `json:"relationships"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("%s does not answer as a hub: %w", endpoint, err)
	}
	var out []HubHit
	for _, d := range answer.Data {
		latest := d.Relationships.LatestChartVersion.Data
		hit := HubHit{
			URL: d.ArtifactHub.PackageURL, Version: latest.Version, AppVersion: latest.AppVersion, Description: d.Attributes.Description,
			Repository: d.Attributes.Repo.Name, RepositoryURL: d.Attributes.Repo.URL,
		}
		if hit.URL == "" {
			hit.URL = strings.TrimSuffix(endpoint, "/") + "/charts/" + d.ID
		}
		out = append(out, hit)
	}
	return out, nil
}
