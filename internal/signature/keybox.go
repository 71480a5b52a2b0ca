package signature

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Parts of a keybox, as GnuPG 2.2 documents them in kbx/keybox-blob.c: each blob begins
// with its length (4 bytes, big endian), a type, a version, and flags (2 bytes); in the blob
// of an OpenPGP key, the offset of the key in the blob and its length follow.
const (
	keyboxHeader   = 32
	openPGPBlob    = 2
	ephemeralFlag  = 2
	minOpenPGPBlob = 16
)

func isKeybox(data []byte) bool {
	return len(data) >= keyboxHeader && data[4] == 1 && bytes.Equal(data[8:12], []byte("KBXf"))
}

// addKeybox reads the OpenPGP keys of a keybox, except ephemeral ones.
func (k *Keyring) addKeybox(data []byte) error {
	var errs []error
	for len(data) > 0 {
		if len(data) < 8 {
			return errors.New("the keybox ends in the middle of a blob")
		}
		length := uint64(binary.BigEndian.Uint32(data))
		if length < 8 || length > uint64(len(data)) {
			return errors.New("the keybox has a blob of an impossible length")
		}
		blob := data[:length]
		data = data[length:]
		if blob[4] != openPGPBlob || binary.BigEndian.Uint16(blob[6:])&ephemeralFlag != 0 {
			continue
		}
		if length < minOpenPGPBlob {
			return errors.New("the keybox has a blob that is too short")
		}
		from, size := uint64(binary.BigEndian.Uint32(blob[8:])), uint64(binary.BigEndian.Uint32(blob[12:]))
		if from+size > length {
			return errors.New("the keybox has a key that extends beyond its blob")
		}
		errs = append(errs, k.add(bytes.NewReader(blob[from:from+size])))
	}
	return errors.Join(errs...)
}
