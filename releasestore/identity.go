package releasestore

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
)

// Identity is the holder of a lock, as in the Lease's holderIdentity: a text for
// people and 128 random bits, like the "host_uuid" of client-go's leader election.
// It is compared as a whole and never by its text, which is not unique: containers
// often have the same host name, user and process number.
//
// Older versions wrote the text without random bits; such an identity equals only itself.
type Identity string

// NewIdentity returns a unique identity. text is shown to users.
func NewIdentity(text string) Identity {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails, see its documentation
	return Identity(text + "_" + hex.EncodeToString(random))
}

// named matches an identity with both a text and random bits.
var named = regexp.MustCompile(`^(?s:(.+))_[0-9a-f]{32}$`)

// Text returns the identity as it is shown to users; it is empty only when there is no holder.
func (i Identity) Text() string {
	if found := named.FindStringSubmatch(string(i)); found != nil {
		return found[1]
	}
	return string(i)
}
