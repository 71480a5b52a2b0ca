package signature_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

const issuer = "https://token.actions.githubusercontent.com"

// ci signs in March 2026, in the second minute of its certificate. The tests run later:
// the certificate has expired then.
var ci = sourcetest.Keyless{
	Identity: "https://github.com/acme/charts/.github/workflows/release.yml@refs/heads/main", Issuer: issuer,
	Certified: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Logged: time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC),
}

func rootOf(t *testing.T, s *sourcetest.Sigstore) *signature.TrustedRoot {
	t.Helper()
	root, err := signature.ParseTrustedRoot(s.TrustedRoot())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func archive(text string) signature.Subject {
	sum := sha256.Sum256([]byte(text))
	return signature.Subject{Digest: "sha256:" + hex.EncodeToString(sum[:]), Data: []byte(text)}
}

// changed returns a bundle in which the value at a path is a different one; nil removes it.
func changed(t *testing.T, bundle []byte, path string, value any) []byte {
	t.Helper()
	var whole any
	if err := json.Unmarshal(bundle, &whole); err != nil {
		t.Fatal(err)
	}
	at, keys := whole, strings.Split(path, ".")
	for i, key := range keys {
		if list, ok := at.([]any); ok {
			at = list[0]
		}
		inner := at.(map[string]any)
		if _, ok := inner[key]; !ok {
			t.Fatalf("there is no %s", path)
		}
		if i == len(keys)-1 {
			inner[key] = value
			if value == nil {
				delete(inner, key)
			}
		}
		at = inner[key]
	}
	out, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// part returns what a bundle has at a path.
func part(t *testing.T, bundle []byte, path string) any {
	t.Helper()
	var at any
	if err := json.Unmarshal(bundle, &at); err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := at.([]any); ok {
			at = list[0]
		}
		at = at.(map[string]any)[key]
	}
	return at
}

const (
	entries     = "verificationMaterial.tlogEntries"
	certificate = "verificationMaterial.certificate"
)

// The authority, the logs and the bundles are the test's own, see sourcetest.Sigstore.
func TestKeylessSignatures(t *testing.T) {
	ours, theirs := sourcetest.NewSigstore(t), sourcetest.NewSigstore(t)
	s, other := archive("chart"), archive("another chart")
	hexOf := func(s signature.Subject) string { return strings.TrimPrefix(s.Digest, "sha256:") }
	who := func(change func(*sourcetest.Keyless)) sourcetest.Keyless {
		one := ci
		change(&one)
		return one
	}
	blob, manifest := ours.SignBlob(ci, s.Data), ours.SignManifest(ci, hexOf(s))
	again := ours.SignBlob(ci, s.Data)
	late := who(func(k *sourcetest.Keyless) { k.Logged = k.Certified.Add(11 * time.Minute) })
	early := who(func(k *sourcetest.Keyless) { k.Logged = k.Certified.Add(-time.Minute) })
	proof := part(t, blob, entries+".inclusionProof.hashes").([]any)
	for name, tc := range map[string]struct {
		bundle []byte
		err    string
	}{
		"cosign sign-blob":                     {blob, ""},
		"cosign sign":                          {manifest, ""},
		"version 0.2":                          {changed(t, blob, "mediaType", "application/vnd.dev.sigstore.bundle+json;version=0.2"), ""},
		"another version":                      {changed(t, blob, "mediaType", "application/vnd.dev.sigstore.bundle.v0.9+json"), "its media type"},
		"another blob":                         {ours.SignBlob(ci, other.Data), "for another digest"},
		"another manifest":                     {ours.SignManifest(ci, hexOf(other)), "another digest"},
		"another identity":                     {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Identity = "https://github.com/evil/charts" }), s.Data), `"https://github.com/evil/charts" of`},
		"an identity that goes on":             {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Identity += "2" }), s.Data), "not the required identity"},
		"another issuer":                       {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Issuer = "https://evil.example.com" }), s.Data), `of "https://evil.example.com"`},
		"no issuer":                            {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Issuer = "" }), s.Data), "not the required identity"},
		"another instance":                     {theirs.SignBlob(ci, s.Data), "does not know the log"},
		"logged when the certificate was over": {ours.SignBlob(late, s.Data), "expired or is not yet valid"},
		"logged before it":                     {ours.SignManifest(early, hexOf(s)), "expired or is not yet valid"},
		"logged before the log was trusted":    {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Logged = k.Logged.AddDate(-1, 0, 0) }), s.Data), "does not trust the log"},
		"another time than was promised":       {changed(t, ours.SignBlob(late, s.Data), entries+".integratedTime", fmt.Sprint(ci.Logged.Unix())), "the log has not signed it"},
		"no promise, so no time":               {changed(t, blob, entries+".inclusionPromise", nil), "neither the log nor a timestamp"},
		"no entry":                             {changed(t, blob, entries, nil), "there is none"},
		"the entry of another blob":            {changed(t, blob, entries, part(t, ours.SignBlob(ci, other.Data), entries)), "for another digest"},
		"the entry of another manifest":        {changed(t, manifest, entries, part(t, ours.SignManifest(ci, hexOf(other)), entries)), "for another digest"},
		"the entry of another signature":       {changed(t, blob, entries, part(t, again, entries)), "for another signature"},
		"an entry for a manifest":              {changed(t, blob, entries, part(t, manifest, entries)), "for another digest"},
		"another index":                        {changed(t, blob, entries+".logIndex", "42"), "the log has not signed it"},
		"another body":                         {changed(t, blob, entries+".canonicalizedBody", []byte("{}")), "the log has not signed it"},
		"another log":                          {changed(t, blob, entries+".logId.keyId", make([]byte, 32)), "does not know the log"},
		"no proof":                             {changed(t, blob, entries+".inclusionProof", nil), "there is no proof"},
		"a truncated proof":                    {changed(t, blob, entries+".inclusionProof.hashes", proof[:1]), "does not show"},
		"a longer proof":                       {changed(t, blob, entries+".inclusionProof.hashes", append(proof, proof[0])), "does not show"},
		"a truncated hash":                     {changed(t, blob, entries+".inclusionProof.hashes", []any{proof[0], []byte("x")}), "wrong length"},
		"another place in the tree":            {changed(t, blob, entries+".inclusionProof.logIndex", "0"), "does not show"},
		"a place outside of the tree":          {changed(t, blob, entries+".inclusionProof.logIndex", "-1"), "does not show"},
		"the proof of another entry":           {changed(t, blob, entries+".inclusionProof", part(t, again, entries+".inclusionProof")), "does not show"},
		"another size":                         {changed(t, blob, entries+".inclusionProof.treeSize", "4"), "different tree"},
		"another root of the tree":             {changed(t, blob, entries+".inclusionProof.rootHash", make([]byte, 32)), "different tree"},
		"a checkpoint of another log":          {changed(t, blob, entries+".inclusionProof.checkpoint", part(t, theirs.SignBlob(ci, s.Data), entries+".inclusionProof.checkpoint")), "has not signed the checkpoint"},
		"no checkpoint":                        {changed(t, blob, entries+".inclusionProof.checkpoint.envelope", ""), "has not signed the checkpoint"},
		"another certificate":                  {changed(t, blob, certificate, part(t, again, certificate)), "for another certificate"},
		"no certificate":                       {changed(t, blob, certificate, nil), "not signed with the certificate"},
		"a certificate that is none":           {changed(t, blob, certificate+".rawBytes", []byte("x")), "can't be read"},
		"a certificate in no log":              {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Unlisted = true }), s.Data), "in no certificate log"},
		"a certificate of another key":         {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Forged = true }), s.Data), "was not made with the key of its certificate"},
		"a certificate for a server":           {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Usage = x509.ExtKeyUsageServerAuth }), s.Data), "incompatible key usage"},
		"a promise for another certificate":    {ours.SignBlob(who(func(k *sourcetest.Keyless) { k.Mislisted = true }), s.Data), "in no certificate log"},
		"another signature":                    {changed(t, blob, "messageSignature", part(t, again, "messageSignature")), "for another signature"},
		"two signatures":                       {changed(t, manifest, "dsseEnvelope.signatures", append(part(t, manifest, "dsseEnvelope.signatures").([]any), map[string]any{"sig": "AAAA"})), "not signed with the certificate"},
		"nothing but a key's signature":        {[]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","messageSignature":{"signature":"AAAA"}}`), "not signed with the certificate"},
	} {
		got, err := signature.VerifyBundle(tc.bundle, s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: rootOf(t, ours)})
		switch {
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		case tc.err == "" && (err != nil || got.Method != signature.Cosign || got.Signer() != ci.Identity || got.Issuer != issuer || got.LogIndex != 41):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The parts of one instance do not make up for those of another.
func TestEachPartOfATrustedRootCounts(t *testing.T) {
	ours, theirs := sourcetest.NewSigstore(t), sourcetest.NewSigstore(t)
	s := archive("chart")
	for key, want := range map[string]string{"tlogs": "does not know the log", "ctlogs": "in no certificate log", "certificateAuthorities": "unknown authority"} {
		mixed := changed(t, ours.TrustedRoot(), key, part(t, theirs.TrustedRoot(), key))
		root, err := signature.ParseTrustedRoot(mixed)
		if err != nil {
			t.Fatal(err)
		}
		_, err = signature.VerifyBundle(ours.SignBlob(ci, s.Data), s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: root})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of another instance: %v, want %q", key, err, want)
		}
		if _, err := signature.ParseTrustedRoot(changed(t, ours.TrustedRoot(), key, []any{})); err == nil {
			t.Errorf("no %s: no error", key)
		}
	}
	later := changed(t, ours.TrustedRoot(), "certificateAuthorities.validFor.start", ci.Logged.Add(time.Second))
	root, err := signature.ParseTrustedRoot(later)
	if err != nil {
		t.Fatal(err)
	}
	_, err = signature.VerifyBundle(ours.SignBlob(ci, s.Data), s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: root})
	if err == nil || !strings.Contains(err.Error(), "no authority at") {
		t.Errorf("an authority that was not trusted yet: %v", err)
	}
	for name, text := range map[string]string{"nothing": "", "a bundle": string(ours.SignBlob(ci, s.Data)), "an empty one": `{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}`} {
		if _, err := signature.ParseTrustedRoot([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestIdentitiesByRegexp(t *testing.T) {
	ours, s := sourcetest.NewSigstore(t), archive("chart")
	anna := ci
	anna.Identity = "anna@example.com"
	for pattern, want := range map[string]bool{`^anna@example\.com$`: true, "@example": true, "^example": false, "": true} {
		_, err := signature.VerifyBundle(ours.SignBlob(anna, s.Data), s, signature.Identity{Pattern: regexp.MustCompile(pattern), Issuer: issuer, Root: rootOf(t, ours)})
		if (err == nil) != want {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	if _, err := signature.VerifyBundle(ours.SignBlob(anna, s.Data), s, signature.Identity{Issuer: issuer, Root: rootOf(t, ours)}); err == nil {
		t.Error("an identity that is none is found in any certificate")
	}
}

// Cosign 2 stores only the log's promise.
func TestKeylessSimple(t *testing.T) {
	ours, theirs, s := sourcetest.NewSigstore(t), sourcetest.NewSigstore(t), archive("manifest")
	payload := fmt.Appendf(nil, `{"critical":{"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"}}`, s.Digest)
	simple := func(from *sourcetest.Sigstore, message []byte) signature.Simple {
		x := signature.Simple{Payload: payload}
		x.Signature, x.Certificate, x.Entry = from.Simple(from.Sign(ci, message))
		return x
	}
	right := simple(ours, payload)
	without := func(change func(*signature.Simple)) signature.Simple {
		x := right
		change(&x)
		return x
	}
	for name, tc := range map[string]struct {
		simple signature.Simple
		err    string
	}{
		"right":            {right, ""},
		"another payload":  {simple(ours, []byte("x")), "for another digest"},
		"another instance": {simple(theirs, payload), "does not know the log"},
		"no entry":         {without(func(x *signature.Simple) { x.Entry = "" }), "there is none"},
		"a broken entry":   {without(func(x *signature.Simple) { x.Entry = "x" }), "can't be read"},
		"another's entry":  {without(func(x *signature.Simple) { x.Entry = simple(ours, payload).Entry }), "for another signature"},
		"no certificate":   {without(func(x *signature.Simple) { x.Certificate = "" }), "not signed with the certificate"},
		"a broken one":     {without(func(x *signature.Simple) { x.Signature = "?" }), "can't be read"},
		"another one":      {without(func(x *signature.Simple) { x.Signature = base64.StdEncoding.EncodeToString([]byte("x")) }), "for another signature"},
	} {
		_, err := signature.VerifySimple(tc.simple, s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: rootOf(t, ours)})
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
}
