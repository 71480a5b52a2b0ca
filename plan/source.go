package plan

import "fmt"

// ChartSource is where a chart was fetched from, and what pins the plan to its bytes. It
// holds no credentials.
type ChartSource struct {
	// Reference is the chart as it was named.
	Reference string `json:"reference"`
	// Repository is the URL of the repository whose index was asked; empty where none was.
	Repository string `json:"repository,omitempty"`
	// Name and Version are what was chosen, as far as the source says it.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// URL is where the chart is: an archive, or oci://HOST/PATH:TAG.
	URL string `json:"url"`
	// Digest is "sha256:" and hex: the archive's, or for a registry its manifest's.
	Digest string `json:"digest"`
	// Fixed says that the reference names the digest, so that it can't come to mean
	// other bytes.
	Fixed bool `json:"fixed,omitempty"`
}

// Moved says in one sentence that the reference has come to mean other bytes, when now,
// the digest that it means, is another one than it was; else "".
func (s ChartSource) Moved(now string) string {
	if s.Fixed || now == s.Digest {
		return ""
	}
	return fmt.Sprintf("%s was %s when the plan was made, and is %s now", s.URL, s.Digest, now)
}
