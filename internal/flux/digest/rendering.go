package digest

import (
	"bytes"
	"encoding/json"

	"github.com/opencontainers/go-digest"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// PostRenderers returns the digest of spec.postRenderers for
// status.observedPostRenderersDigest, "" when they are not set.
func PostRenderers(p []flux.PostRenderer) string {
	if p == nil {
		return ""
	}
	return ofJSON(p)
}

// CommonMetadata returns the digest of spec.commonMetadata for
// status.observedCommonMetadataDigest, "" when it is not set.
func CommonMetadata(m *flux.CommonMetadata) string {
	if m == nil {
		return ""
	}
	return ofJSON(m)
}

// ofJSON returns the digest of a line of JSON, including the line feed. The types
// hold only strings, which can't fail to encode.
func ofJSON(v any) string {
	var out bytes.Buffer
	_ = json.NewEncoder(&out).Encode(v)
	return digest.Canonical.FromBytes(out.Bytes()).String()
}
