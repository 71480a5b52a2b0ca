package signature_test

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

const timestamps = "verificationMaterial.timestampVerificationData.rfc3161Timestamps"

// in2 returns ci with its signatures in Rekor 2.
func in2(change func(*sourcetest.Keyless)) sourcetest.Keyless {
	one := ci
	one.Rekor2 = true
	if change != nil {
		change(&one)
	}
	return one
}

func stamped(how sourcetest.Stamp) sourcetest.Keyless {
	return in2(func(k *sourcetest.Keyless) { k.Stamp = how })
}

func TestSignaturesInRekor2(t *testing.T) {
	ours, theirs := sourcetest.NewSigstore(t), sourcetest.NewSigstore(t)
	s, other := archive("chart"), archive("another chart")
	blob, manifest := ours.SignBlob(in2(nil), s.Data), ours.SignManifest(in2(nil), strings.TrimPrefix(s.Digest, "sha256:"))
	again, in1 := ours.SignBlob(in2(nil), s.Data), ours.SignBlob(ci, s.Data)
	envelope, _ := part(t, blob, entries+".inclusionProof.checkpoint.envelope").(string)
	renamed := strings.ReplaceAll(envelope, "log2.test", "log3.test")
	late := ci.Certified.Add(11 * time.Minute)
	for name, tc := range map[string]struct {
		bundle []byte
		err    string
	}{
		"cosign sign-blob":                  {blob, ""},
		"cosign sign":                       {manifest, ""},
		"a time that is none":               {changed(t, blob, entries, with(part(t, blob, entries), "integratedTime", "1")), ""},
		"another blob":                      {ours.SignBlob(in2(nil), other.Data), "for another digest"},
		"another instance":                  {theirs.SignBlob(in2(nil), s.Data), "does not know"},
		"no proof":                          {changed(t, blob, entries+".inclusionProof", nil), "there is no proof"},
		"the proof of another entry":        {changed(t, blob, entries+".inclusionProof", part(t, again, entries+".inclusionProof")), "does not show"},
		"another index":                     {changed(t, blob, entries+".logIndex", "2"), "for another entry"},
		"the entry of another signature":    {changed(t, blob, entries, part(t, again, entries)), "for another signature"},
		"the entry of another manifest":     {changed(t, blob, entries, part(t, manifest, entries)), "for another digest"},
		"a checkpoint of another name":      {changed(t, blob, entries+".inclusionProof.checkpoint.envelope", renamed), "no verifiable signatures"},
		"a checkpoint signed by a witness":  {changed(t, blob, entries+".inclusionProof.checkpoint.envelope", envelope[:strings.LastIndex(envelope, "—")]), "no verifiable signatures"},
		"an entry of Rekor 1, not promised": {changed(t, changed(t, in1, entries+".inclusionPromise", nil), "verificationMaterial", with(part(t, changed(t, in1, entries+".inclusionPromise", nil), "verificationMaterial"), "timestampVerificationData", part(t, blob, "verificationMaterial.timestampVerificationData"))), "timestamp is for something else"},
		"a checkpoint of another origin":    {ours.SignBlob(in2(func(k *sourcetest.Keyless) { k.Origin = "log3.test" }), s.Data), "from another log"},
		"another certificate":               {changed(t, blob, certificate, part(t, again, certificate)), "for another certificate"},

		"a fraction of a second":              {ours.SignBlob(stamped(sourcetest.Stamp{Fraction: true}), s.Data), ""},
		"with the certificate":                {ours.SignBlob(stamped(sourcetest.Stamp{Enclosed: true}), s.Data), ""},
		"the second timestamp":                {changed(t, blob, timestamps, []any{map[string]any{"signedTimestamp": []byte("x")}, part(t, blob, timestamps).([]any)[0]}), ""},
		"no timestamp":                        {ours.SignBlob(stamped(sourcetest.Stamp{None: true}), s.Data), "neither the log nor a timestamp"},
		"a timestamp of another signature":    {changed(t, blob, timestamps, part(t, again, timestamps)), "timestamp is for something else"},
		"a timestamp of the blob":             {ours.SignBlob(stamped(sourcetest.Stamp{Of: s.Data}), s.Data), "timestamp is for something else"},
		"another authority's":                 {changed(t, blob, timestamps, part(t, theirs.SignBlob(in2(nil), s.Data), timestamps)), "timestamp is for something else"},
		"a refusal":                           {ours.SignBlob(stamped(sourcetest.Stamp{Status: 2}), s.Data), "was refused"},
		"another content than is signed":      {ours.SignBlob(stamped(sourcetest.Stamp{Changed: true}), s.Data), "signed for other content"},
		"no certificate named":                {ours.SignBlob(stamped(sourcetest.Stamp{Without: "certificate"}), s.Data), "can't be read"},
		"no digest signed":                    {ours.SignBlob(stamped(sourcetest.Stamp{Without: "digest"}), s.Data), "can't be read"},
		"no type of content signed":           {ours.SignBlob(stamped(sourcetest.Stamp{Without: "content type"}), s.Data), "can't be read"},
		"two have signed":                     {ours.SignBlob(stamped(sourcetest.Stamp{Doubled: true}), s.Data), "can't be read"},
		"a version to come":                   {ours.SignBlob(stamped(sourcetest.Stamp{Version: 1}), s.Data), "can't be read"},
		"another certificate named":           {ours.SignBlob(stamped(sourcetest.Stamp{Misnamed: true}), s.Data), "does not know who signed its timestamp"},
		"an extension":                        {ours.SignBlob(stamped(sourcetest.Stamp{Extended: true}), s.Data), "can't be read"},
		"a certificate for more":              {ours.SignBlob(stamped(sourcetest.Stamp{Broad: true, Enclosed: true}), s.Data), "does not know who signed its timestamp"},
		"after the certificate was over":      {ours.SignBlob(stamped(sourcetest.Stamp{At: late}), s.Data), "expired or is not yet valid"},
		"before it":                           {ours.SignBlob(stamped(sourcetest.Stamp{At: ci.Certified.Add(-time.Second)}), s.Data), "expired or is not yet valid"},
		"before the authority was trusted":    {ours.SignBlob(stamped(sourcetest.Stamp{At: ci.Logged.AddDate(-1, 0, 0)}), s.Data), "does not trust the authority"},
		"when the authority's own was over":   {ours.SignBlob(stamped(sourcetest.Stamp{At: ci.Logged.AddDate(3, 0, 0)}), s.Data), "the certificate of its timestamp is not valid"},
		"a timestamp that is none":            {changed(t, blob, timestamps+".signedTimestamp", []byte("x")), "can't be read"},
		"a promise of its own for the 1st":    {changed(t, blob, entries, with(part(t, blob, entries), "inclusionPromise", part(t, in1, entries+".inclusionPromise"))), "does not trust the log"},
		"a promise of its own, with its time": {changed(t, blob, entries, with(with(part(t, blob, entries), "inclusionPromise", part(t, in1, entries+".inclusionPromise")), "integratedTime", part(t, in1, entries+".integratedTime"))), "the log has not signed it"},
	} {
		got, err := signature.VerifyBundle(tc.bundle, s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: rootOf(t, ours)})
		switch {
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		case tc.err == "" && (err != nil || got.Signer() != ci.Identity || got.LogIndex != 1):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// with returns a part of a bundle in which a key has another value.
func with(whole any, key string, value any) any {
	if list, ok := whole.([]any); ok {
		return []any{with(list[0], key, value)}
	}
	out := map[string]any{}
	for k, v := range whole.(map[string]any) {
		out[k] = v
	}
	out[key] = value
	return out
}

// If the root does not say whose certificate signs, the timestamp's own counts, provided
// that the root's authority issued it for timestamping only.
func TestTimestampsThatBringTheirCertificate(t *testing.T) {
	ours, theirs := sourcetest.NewSigstore(t), sourcetest.NewSigstore(t)
	s := archive("chart")
	const chain = "timestampAuthorities.certChain.certificates"
	for name, tc := range map[string]struct {
		by  *sourcetest.Sigstore
		how sourcetest.Stamp
		err string
	}{
		"right":          {ours, sourcetest.Stamp{Enclosed: true}, ""},
		"without it":     {ours, sourcetest.Stamp{}, "does not know who"},
		"for more":       {ours, sourcetest.Stamp{Enclosed: true, Broad: true}, "not for timestamps only"},
		"of another one": {theirs, sourcetest.Stamp{Enclosed: true}, "unknown authority"},
	} {
		// The root is that of the one who signs, except for the timestamp authority.
		anchor := part(t, ours.TrustedRoot(), chain).([]any)[1:]
		root, err := signature.ParseTrustedRoot(changed(t, tc.by.TrustedRoot(), chain, anchor))
		if err != nil {
			t.Fatal(err)
		}
		_, err = signature.VerifyBundle(tc.by.SignBlob(stamped(tc.how), s.Data), s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: root})
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
	none := changed(t, ours.TrustedRoot(), "timestampAuthorities", nil)
	root, err := signature.ParseTrustedRoot(none)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signature.VerifyBundle(ours.SignBlob(in2(nil), s.Data), s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: root}); err == nil || !strings.Contains(err.Error(), "no authority for timestamps") {
		t.Errorf("a root without an authority for timestamps: %v", err)
	}
	for name, bad := range map[string]any{"no certificate": []any{}, "the signer's alone": part(t, ours.TrustedRoot(), chain).([]any)[:1], "rubbish": []any{map[string]any{"rawBytes": []byte("x")}}} {
		if _, err := signature.ParseTrustedRoot(changed(t, ours.TrustedRoot(), chain, bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// No byte of a timestamp can be changed or removed so that it states another time; where it
// still verifies, the byte means nothing.
func TestEachByteOfATimestampCounts(t *testing.T) {
	ours, s := sourcetest.NewSigstore(t), archive("chart")
	root := rootOf(t, ours)
	blob := ours.SignBlob(in2(nil), s.Data)
	text, _ := part(t, blob, timestamps+".signedTimestamp").(string)
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	verifies := func(data []byte) bool {
		_, err := signature.VerifyBundle(changed(t, blob, timestamps+".signedTimestamp", data), s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: root})
		return err == nil
	}
	if !verifies(der) {
		t.Fatal("the right one is not right")
	}
	time := []byte("20260301120100Z")
	from, to, idle := bytes.Index(der, []byte{0x83, 0xbf, 0x30, 2}), bytes.Index(der, time)+len(time), 0
	for i := range der {
		spoilt := slices.Clone(der)
		spoilt[i] ^= 1
		if verifies(spoilt) {
			idle++
			if i >= from && i < to {
				t.Errorf("byte %d, between the policy and the time, says nothing", i)
			}
		}
		if verifies(der[:i]) {
			t.Errorf("%d bytes are enough", i)
		}
	}
	// That is how much of it only names algorithms, and repeats who signed.
	if idle > 80 {
		t.Errorf("%d of %d bytes say nothing", idle, len(der))
	}
	if verifies(append(slices.Clone(der), 0)) {
		t.Error("anything may follow")
	}
}

// Bundles come from registries; what they hold must not break anything.
func FuzzTimestamp(f *testing.F) {
	ours, s := sourcetest.NewSigstore(f), archive("chart")
	root, err := signature.ParseTrustedRoot(ours.TrustedRoot())
	if err != nil {
		f.Fatal(err)
	}
	bundle := ours.SignBlob(in2(nil), s.Data)
	f.Add(ours.Sign(in2(nil), s.Data).Timestamp)
	f.Add(ours.Sign(stamped(sourcetest.Stamp{Enclosed: true, Extended: true}), s.Data).Timestamp)
	f.Fuzz(func(t *testing.T, stamp []byte) {
		another := changed(t, bundle, timestamps+".signedTimestamp", stamp)
		if _, err := signature.VerifyBundle(another, s, signature.Identity{Name: ci.Identity, Issuer: issuer, Root: root}); err == nil {
			t.Error("a timestamp of another signature counts")
		}
	})
}
