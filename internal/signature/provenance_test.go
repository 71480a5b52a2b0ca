package signature

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

var (
	now     = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	archive = Archive{Name: "web-1.0.0.tgz", Digest: "sha256:" + strings.Repeat("0a", 32)}
	web     = &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}
)

// newKey makes a key that is valid for a while from now on, or forever.
func newKey(t *testing.T, name string, lives time.Duration) *openpgp.Entity {
	t.Helper()
	e, err := openpgp.NewEntity(name, "", strings.ToLower(name)+"@example.com", &packet.Config{
		Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return now }, KeyLifetimeSecs: uint32(lives.Seconds()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func public(t *testing.T, keys ...*openpgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, k := range keys {
		if err := k.Serialize(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func armoured(t *testing.T, keys ...*openpgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, k := range keys {
		w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Serialize(w); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n\n")
	}
	return b.Bytes()
}

// keybox puts keys into blobs as GnuPG does, with a checksum after each; those with flags
// 2 are ephemeral.
func keybox(t *testing.T, flags uint16, keys ...*openpgp.Entity) []byte {
	t.Helper()
	out := make([]byte, 32)
	binary.BigEndian.PutUint32(out, 32)
	out[4], out[5] = 1, 1
	copy(out[8:], "KBXf")
	for _, k := range keys {
		key := public(t, k)
		blob := make([]byte, 32, 32+len(key)+20)
		blob = append(append(blob, key...), make([]byte, 20)...)
		binary.BigEndian.PutUint32(blob, uint32(len(blob)))
		blob[4], blob[5] = openPGPBlob, 1
		binary.BigEndian.PutUint16(blob[6:], flags)
		binary.BigEndian.PutUint32(blob[8:], 32)
		binary.BigEndian.PutUint32(blob[12:], uint32(len(key)))
		out = append(out, blob...)
	}
	return out
}

func signed(t *testing.T, k *openpgp.Entity, a Archive) []byte {
	t.Helper()
	out, err := Key{k}.SignArchive(web, a, now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVerifyProvenance(t *testing.T) {
	anna, bert := newKey(t, "Anna", time.Hour), newKey(t, "Bert", 0)
	good := signed(t, anna, archive)
	ring := public(t, bert, anna)
	lines := strings.SplitAfter(string(good), "\n")
	other := archive
	other.Digest = "sha256:" + strings.Repeat("0b", 32)
	for name, tc := range map[string]struct {
		provenance, keyring []byte
		archive             Archive
		now                 time.Time
		err                 string
	}{
		"packets":                 {good, ring, archive, now, ""},
		"one armoured block":      {good, armoured(t, anna), archive, now, ""},
		"the second block of two": {good, armoured(t, bert, anna), archive, now, ""},
		"a keybox":                {good, keybox(t, 0, bert, anna), archive, now, ""},
		"an ephemeral key":        {good, append(keybox(t, 2, anna), keybox(t, 0, bert)[32:]...), archive, now, "none of the keys"},
		"line ends of Windows":    {[]byte(strings.ReplaceAll(string(good), "\n", "\r\n")), ring, archive, now, ""},
		"by its digest alone":     {good, ring, Archive{Digest: archive.Digest}, now, ""},
		"another digest alone":    {good, ring, Archive{Digest: other.Digest}, now, "for other files"},
		"a renamed file":          {good, ring, Archive{Name: "web-2.0.0.tgz", Digest: archive.Digest}, now, "says nothing about a file named web-2.0.0.tgz"},
		"a flipped byte":          {good, ring, other, now, "it has " + other.Digest},
		"another key":             {good, public(t, bert), archive, now, "none of the keys"},
		"an expired key":          {good, ring, archive, now.Add(2 * time.Hour), "has expired"},
		"changed text":            {[]byte(strings.Replace(string(good), "1.0.0", "1.0.1", 1)), ring, archive, now, "the signature is not valid"},
		"text before it":          {append([]byte("files:\n  x: y\n\n"), good...), ring, archive, now, ""},
		"no signature":            {[]byte(strings.Join(lines[:8], "")), ring, archive, now, "not a text signed with OpenPGP"},
		"nothing":                 {nil, ring, archive, now, "not a text signed with OpenPGP"},
		"a page":                  {[]byte("<!doctype html><h1>404</h1>"), ring, archive, now, "not a text signed with OpenPGP"},
	} {
		keys, err := ParseKeyring(tc.keyring)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := VerifyProvenance(tc.provenance, tc.archive, keys, tc.now)
		switch {
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		case tc.err == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.err == "" && (got.Method != PGP || !got.By([]string{"Anna <anna@example.com>"}) || !got.By([]string{strings.ToLower(got.Key)}) || got.By([]string{"Anna", ""})):
			t.Errorf("%s: %+v", name, got)
		}
		var content *OtherContentError
		if is := errors.As(err, &content); is != (tc.archive.Digest == other.Digest) {
			t.Errorf("%s: that it is signed for other content: %v", name, is)
		}
	}
}

// A key that was revoked counts for nothing, although its signature is right.
func TestVerifyByARevokedKey(t *testing.T) {
	anna := newKey(t, "Anna", 0)
	good := signed(t, anna, archive)
	if err := anna.RevokeKey(packet.KeyCompromised, "", &packet.Config{Time: func() time.Time { return now }}); err != nil {
		t.Fatal(err)
	}
	keys, err := ParseKeyring(public(t, anna))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyProvenance(good, archive, keys, now); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Error(err)
	}
}

// A name that a key no longer has is not one of its names.
func TestRevokedNames(t *testing.T) {
	anna := newKey(t, "Anna", 0)
	config := &packet.Config{Time: func() time.Time { return now }}
	if err := anna.AddUserId("Bert", "", "bert@example.com", config); err != nil {
		t.Fatal(err)
	}
	const bert = "Bert <bert@example.com>"
	if names := signersOf(anna); !slices.Contains(names, bert) {
		t.Fatal(names)
	}
	revocation := &packet.Signature{SigType: packet.SigTypeCertificationRevocation, PubKeyAlgo: anna.PrimaryKey.PubKeyAlgo, Hash: config.Hash(), CreationTime: now, IssuerKeyId: &anna.PrimaryKey.KeyId}
	if err := revocation.SignUserId(bert, anna.PrimaryKey, anna.PrivateKey, config); err != nil {
		t.Fatal(err)
	}
	anna.Identities[bert].Revocations = append(anna.Identities[bert].Revocations, revocation)
	anna.Identities[bert].Signatures = append(anna.Identities[bert].Signatures, revocation)
	keys, err := ParseKeyring(public(t, anna))
	if err != nil {
		t.Fatal(err)
	}
	got, err := VerifyProvenance(signed(t, anna, archive), archive, keys, now)
	if err != nil || got.By([]string{bert}) || !got.By([]string{"Anna <anna@example.com>"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A name says who has signed only if one key has it; keys that can't sign any more don't count.
func TestUnclearNames(t *testing.T) {
	anna, other, old, bert := newKey(t, "Anna", 0), newKey(t, "Anna", 0), newKey(t, "Anna", time.Hour), newKey(t, "Bert", 0)
	const name = "Anna <anna@example.com>"
	for what, tc := range map[string]struct {
		ring    openpgp.EntityList
		signers []string
		unclear bool
	}{
		"one key":                        {openpgp.EntityList{anna, bert}, []string{name}, false},
		"one key twice":                  {openpgp.EntityList{anna, anna}, []string{name}, false},
		"two keys":                       {openpgp.EntityList{other, anna}, []string{name}, true},
		"two keys, another signer":       {openpgp.EntityList{other, anna}, []string{signedBy(bert), name}, true},
		"two keys, its fingerprint":      {openpgp.EntityList{other, anna}, []string{signedBy(anna)}, false},
		"two keys, both":                 {openpgp.EntityList{other, anna}, []string{name, signedBy(anna)}, false},
		"one that has expired meanwhile": {openpgp.EntityList{old, anna}, []string{name}, false},
	} {
		k := Keyring{keys: tc.ring}
		later := now.Add(2 * time.Hour)
		got, err := VerifyProvenance(signed(t, anna, archive), archive, k, later)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := k.Unclear(got, tc.signers, later); (err != nil) != tc.unclear || err != nil && !strings.Contains(err.Error(), "2 keys in the keyring are named "+name+": give the signer's fingerprint") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The provenance of another archive is refused, although the same key has signed it.
func TestVerifyOtherSignedText(t *testing.T) {
	anna := newKey(t, "Anna", 0)
	keys, err := ParseKeyring(public(t, anna))
	if err != nil {
		t.Fatal(err)
	}
	odd := signed(t, anna, Archive{Name: "a", Digest: "b"})
	if _, err := VerifyProvenance(odd, archive, keys, now); err == nil || !strings.Contains(err.Error(), "says nothing about a file named web-1.0.0.tgz") {
		t.Error(err)
	}
}

func TestParseKeyringRefuses(t *testing.T) {
	box := keybox(t, 0, newKey(t, "Anna", 0))
	for name, data := range map[string][]byte{
		"nothing":             nil,
		"a page":              []byte("<!doctype html>"),
		"a message":           []byte("-----BEGIN PGP MESSAGE-----\n\nhQ==\n-----END PGP MESSAGE-----\n"),
		"an empty keybox":     box[:32],
		"a keybox cut short":  box[:len(box)-1],
		"a blob of length 0":  append(slices.Clone(box[:32]), make([]byte, 32)...),
		"a key out of a blob": append(slices.Clone(box[:32]), 0, 0, 0, 16, openPGPBlob, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		if _, err := ParseKeyring(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What Helm's OpenPGP library makes of the text is checked next to Helm; this is its
// layout.
func TestSignArchive(t *testing.T) {
	anna := newKey(t, "Anna", 0)
	text, _, _ := strings.Cut(string(signed(t, anna, archive)), "\n-----BEGIN PGP SIGNATURE")
	want := "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\napiVersion: v2\nname: web\nversion: 1.0.0\n\n...\nfiles:\n  web-1.0.0.tgz: " + archive.Digest + "\n"
	if text != want {
		t.Errorf("%q\nwant %q", text, want)
	}
}

func TestSecretKey(t *testing.T) {
	anna, annabel, bert := newKey(t, "Anna", 0), newKey(t, "Annabel", 0), newKey(t, "Bert", 0)
	carl := newKey(t, "Carl", 0)
	carl.PrivateKey = nil
	keys := Keyring{keys: openpgp.EntityList{anna, annabel, bert, carl}}
	fingerprint := signedBy(bert)
	for id, want := range map[string]*openpgp.Entity{
		"Anna <anna@example.com>": anna, "annabel@": annabel, "Bert": bert, fingerprint: bert, "Anna": nil, "Carl": nil, "Dora": nil,
	} {
		got, err := keys.Secret(id)
		if (want == nil) != (err != nil) || want != nil && got.entity != want {
			t.Errorf("%s: %v, %v", id, got.entity, err)
		}
	}
}

func signedBy(k *openpgp.Entity) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, x := range k.PrimaryKey.Fingerprint {
		b.WriteByte(digits[x>>4])
		b.WriteByte(digits[x&15])
	}
	return b.String()
}

func TestLockedKey(t *testing.T) {
	anna := newKey(t, "Anna", 0)
	if err := anna.EncryptPrivateKeys([]byte("secret"), nil); err != nil {
		t.Fatal(err)
	}
	k := Key{anna}
	if !k.Locked() {
		t.Fatal("it is not locked")
	}
	if _, err := k.SignArchive(web, archive, now, rand.Reader); err == nil {
		t.Error("a locked key has signed")
	}
	if err := k.Unlock("other"); err == nil {
		t.Error("any passphrase will do")
	}
	if err := k.Unlock("secret"); err != nil || k.Locked() {
		t.Error(err)
	}
}

// A keyring is read from a file that somebody else may have made.
func FuzzParseKeyring(f *testing.F) {
	f.Add([]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP"))
	f.Add([]byte("\x00\x00\x00\x20\x01\x01\x00\x00KBXf"))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := ParseKeyring(data)
		if (err == nil) != (len(keys.keys) > 0) {
			t.Error(err, len(keys.keys))
		}
	})
}
