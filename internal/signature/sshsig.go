package signature

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"
)

// SSH signatures of files, as ssh-keygen -Y sign and -Y verify handle them:
// https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig

const (
	sshMagic = "SSHSIG"
	sshBlock = "SSH SIGNATURE"
)

// sshBlob is what a signature file contains after the magic.
type sshBlob struct {
	Version                   uint32
	PublicKey                 []byte
	Namespace, Reserved, Hash string
	Signature                 []byte
}

// sshMessage is what is signed, after the magic.
type sshMessage struct {
	Namespace, Reserved, Hash string
	Sum                       []byte
}

func (b sshBlob) message(data []byte) ([]byte, error) {
	m := sshMessage{Namespace: b.Namespace, Reserved: b.Reserved, Hash: b.Hash}
	switch b.Hash {
	case "sha256":
		sum := sha256.Sum256(data)
		m.Sum = sum[:]
	case "sha512":
		sum := sha512.Sum512(data)
		m.Sum = sum[:]
	default:
		return nil, fmt.Errorf("its hash %q is neither sha256 nor sha512", b.Hash)
	}
	return append([]byte(sshMagic), ssh.Marshal(m)...), nil
}

// SignSSH signs data for a namespace, such as "file", and returns the content of the
// signature file. Errors are those of the key.
func SignSSH(key ssh.Signer, namespace string, data []byte, random io.Reader) ([]byte, error) {
	b := sshBlob{Version: 1, PublicKey: key.PublicKey().Marshal(), Namespace: namespace, Hash: "sha512"}
	message, err := b.message(data)
	if err != nil {
		return nil, err
	}
	var made *ssh.Signature
	if rsa, ok := key.(ssh.AlgorithmSigner); ok && key.PublicKey().Type() == ssh.KeyAlgoRSA {
		made, err = rsa.SignWithAlgorithm(random, message, ssh.KeyAlgoRSASHA512) // SHA-1 is not allowed
	} else {
		made, err = key.Sign(random, message)
	}
	if err != nil {
		return nil, err
	}
	b.Signature = ssh.Marshal(made)
	return pem.EncodeToMemory(&pem.Block{Type: sshBlock, Bytes: append([]byte(sshMagic), ssh.Marshal(b)...)}), nil
}

// VerifySSH checks the content of a signature file over data for a namespace, and returns
// the key that made the signature; AllowedSigners says whose it is. Errors: it is not such a
// signature, uses SHA-1, or is for other data or another namespace.
func VerifySSH(file []byte, namespace string, data []byte) (ssh.PublicKey, error) {
	block, _ := pem.Decode(bytes.TrimSpace(file))
	if block == nil || block.Type != sshBlock || !bytes.HasPrefix(block.Bytes, []byte(sshMagic)) {
		return nil, errors.New("it is not a signature by an SSH key")
	}
	var b sshBlob
	var made ssh.Signature
	if err := ssh.Unmarshal(block.Bytes[len(sshMagic):], &b); err != nil {
		return nil, fmt.Errorf("it is not a signature by an SSH key: %w", err)
	}
	if b.Version != 1 {
		return nil, fmt.Errorf("it is an SSH signature of version %d; only version 1 is supported", b.Version)
	}
	if b.Namespace != namespace {
		return nil, fmt.Errorf("it was made for %q, not for %q", b.Namespace, namespace)
	}
	key, err := ssh.ParsePublicKey(b.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("read the key in it: %w", err)
	}
	if err := ssh.Unmarshal(b.Signature, &made); err != nil {
		return nil, fmt.Errorf("it is not a signature by an SSH key: %w", err)
	}
	if made.Format == ssh.KeyAlgoRSA {
		return nil, errors.New("it was made with SHA-1, which anybody can forge")
	}
	message, err := b.message(data)
	if err != nil {
		return nil, err
	}
	if err := key.Verify(message, &made); err != nil {
		return nil, errors.New("it is for something else")
	}
	return key, nil
}
