package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// saved is the format of a saved plan: everything that apply needs, unmasked. Sum is the SHA-256 of
// Content. It detects truncated and edited files, but not deliberate forgery.
type saved struct {
	Kind          string          `json:"kind"`
	FormatVersion string          `json:"formatVersion"`
	Sum           string          `json:"sum"`
	Content       json.RawMessage `json:"content"`
}

type savedContent struct {
	Plan   *Document                    `json:"plan"`
	Record *release.Revision            `json:"record,omitempty"`
	Labels map[string]string            `json:"labels,omitempty"`
	CRDs   []*unstructured.Unstructured `json:"crds,omitempty"`
	Notes  string                       `json:"notes,omitempty"`
	// Secrets and Nonce are base64 in JSON.
	Secrets [][]byte `json:"secrets,omitempty"`
	Nonce   []byte   `json:"nonce,omitempty"`
}

const savedKind = "kubectl-release/plan"

// Origin says where and when a plan was saved, according to the job that made it; what is not known
// is empty. Nothing in it changes what the plan does.
type Origin struct {
	Created time.Time `json:"created"`
	// Repository is the source repository, as "shop/web" or a URL; Commit is the full hash of the
	// commit that was planned.
	Repository string `json:"repository,omitempty"`
	Commit     string `json:"commit,omitempty"`
	// PullRequest is the number of the pull request, Run the URL of the job.
	PullRequest string `json:"pullRequest,omitempty"`
	Run         string `json:"run,omitempty"`
}

// Stamp identifies a plan after Build has made it. It does not change what the plan does.
type Stamp struct {
	// EffectDigest is the digest of the plan's effect, see redact.EffectDigest.
	EffectDigest string
	// Origin and Nonce are set for a plan that is saved, and nil otherwise.
	Origin *Origin
	Nonce  []byte
}

// Stamped returns a copy of the plan with a stamp. Only this sets the digests of a new plan: Build
// does not. If the stamp has a nonce, the plan is also encoded, and PlanDigest is the Digest of
// encoded. Errors are those of Encode.
func (p *Plan) Stamped(s Stamp) (stamped *Plan, encoded []byte, err error) {
	out := *p
	out.EffectDigest, out.Origin, out.PlanDigest = s.EffectDigest, s.Origin, ""
	if s.Nonce == nil {
		return &out, nil, nil
	}
	saved := out
	saved.Nonce = s.Nonce
	if encoded, err = Encode(&saved); err != nil {
		return nil, nil, err
	}
	out.PlanDigest = Digest(encoded)
	return &out, encoded, nil
}

// Expired reports whether a plan of this origin is older than age; if age is 0, none is.
func (o Origin) Expired(now time.Time, age time.Duration) bool {
	return age > 0 && o.Created.Add(age).Before(now)
}

// clockSkew is how far the clocks of two machines may differ.
const clockSkew = 5 * time.Minute

// Ahead reports whether a plan of this origin was made later than now, so that its age is not known.
func (o Origin) Ahead(now time.Time) bool { return o.Created.After(now.Add(clockSkew)) }

// Encode returns the plan as the content of a file, unmasked and with secrets, but without its
// PlanDigest, which is the Digest of the returned bytes. Decode reads it. It returns an error for
// values that JSON can't represent, which plans from Build never hold.
func Encode(p *Plan) ([]byte, error) {
	said := p.Document
	said.PlanDigest = "" // a file can't contain its own digest
	c := savedContent{Plan: &said, Record: p.Record, Notes: p.Notes, Secrets: p.Secrets, Nonce: p.Nonce}
	if p.Record != nil {
		c.Labels = p.Record.Labels
	}
	for _, o := range p.CRDs {
		c.CRDs = append(c.CRDs, o.Doc)
	}
	content, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("save the plan of %s: %w", p.Release, err)
	}
	if err := checkEntries(content); err != nil {
		return nil, fmt.Errorf("save the plan of %s: %w", p.Release, err)
	}
	sum := sha256.Sum256(content)
	return json.Marshal(saved{Kind: savedKind, FormatVersion: FormatVersion, Sum: hex.EncodeToString(sum[:]), Content: content})
}

// maxSavedEntries is how many entries of lists and mappings a saved plan may have, enough for several copies of all that
// a chart may render: of two bytes each, as in somebody else's file, 64 MiB would take many gigabytes in memory.
const maxSavedEntries = 4_000_000

// checkEntries refuses the content of a saved plan that has more.
func checkEntries(content []byte) error {
	var entries release.Entries
	if _, _ = entries.Write(content); entries.N > maxSavedEntries {
		return fmt.Errorf("it has %d entries in lists and mappings, more than the %d that can be read back", entries.N, maxSavedEntries)
	}
	return nil
}

// Digest returns "sha256:" and the SHA-256 of data in hex. A saved plan is approved by the digest
// of what Encode returned, before encryption.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// IsSaved reports whether data looks like a saved plan.
func IsSaved(data []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(data[:min(len(data), 64)])), `{"kind":"`+savedKind)
}

// Decode reads a saved plan and sets its PlanDigest. It returns an error if data is not a saved
// plan, was truncated or changed, or has another major format version.
func Decode(data []byte) (*Plan, error) {
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("this is not a saved plan, or it was cut short: %w", err)
	}
	if s.Kind != savedKind {
		return nil, errors.New("this is not a saved plan")
	}
	major, _, _ := strings.Cut(s.FormatVersion, ".")
	ours, _, _ := strings.Cut(FormatVersion, ".")
	if major != ours {
		return nil, fmt.Errorf("the saved plan has format %s and this version reads %s.x: make a new plan", s.FormatVersion, ours)
	}
	sum := sha256.Sum256(s.Content)
	if hex.EncodeToString(sum[:]) != s.Sum {
		return nil, errors.New("the saved plan was changed after it was made: make a new one")
	}
	if err := checkEntries(s.Content); err != nil {
		return nil, fmt.Errorf("read the saved plan: %w", err)
	}
	var c savedContent
	if err := utiljson.Unmarshal(s.Content, &c); err != nil { // integers stay integers: risks are told from them
		return nil, fmt.Errorf("read the saved plan: %w", err)
	}
	p, err := c.restore(s.FormatVersion)
	if err != nil {
		return nil, err
	}
	p.PlanDigest = Digest(data)
	return p, nil
}

// restore rebuilds the plan. format is the format version of the file, which must be that of the
// document.
func (c savedContent) restore(format string) (*Plan, error) {
	if c.Plan == nil {
		return nil, errors.New("the saved plan is empty")
	}
	p := &Plan{Document: *c.Plan, Bundle: Bundle{Record: c.Record, Notes: c.Notes, Secrets: c.Secrets, Nonce: c.Nonce}}
	if p.FormatVersion != format {
		return nil, fmt.Errorf("the saved plan's file has format %s, but its content has format %s: it was changed after it was made", format, p.FormatVersion)
	}
	if p.Record != nil && p.Record.Key() != p.Release {
		return nil, fmt.Errorf("the saved plan is for %s, but contains a revision of %s: it was changed after it was made", p.Release, p.Record.Key())
	}
	if p.Record != nil {
		p.Record.Labels = c.Labels
	}
	for _, doc := range c.CRDs {
		if doc == nil {
			return nil, errors.New("the saved plan has an empty CRD: it was changed after it was made")
		}
		o, err := manifest.FromDoc(doc, "crds/")
		if err != nil {
			return nil, fmt.Errorf("read the saved plan: %w", err)
		}
		p.CRDs = append(p.CRDs, o)
	}
	var broken error
	p.AllSteps(func(_ StageName, s *Step) {
		if s.Op == OpRun && s.Hook == nil {
			broken = fmt.Errorf("the saved plan has no details of the hook %s: it was changed after it was made", s.Object)
		}
	})
	if broken != nil {
		return nil, broken
	}
	p.rate() // risks and counts follow from the steps
	p.recount()
	return p, nil
}
