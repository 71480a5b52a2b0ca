package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is how long all certificates are valid: a cluster lives for minutes, a demo for days.
const lifetime = 30 * 24 * time.Hour

// authority signs the certificates of one trust domain of a cluster.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// pair is a certificate and its key, both in PEM.
type pair struct {
	certificate, key []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key of authority %s: %w", name, err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(lifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("create certificate of authority %s: %w", name, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse certificate of authority %s: %w", name, err)
	}
	return &authority{
		certificate: certificate,
		key:         key,
		pem:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}

// issueServer issues a certificate for a server on the loopback address that is
// also reached under names.
func (a *authority) issueServer(name string, names ...string) (pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    append([]string{"localhost"}, names...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(serviceIP)},
	})
}

// issueClient issues a certificate that authenticates as user.
func (a *authority) issueClient(user string) (pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(template *x509.Certificate) (pair, error) {
	name := template.Subject.CommonName
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return pair{}, fmt.Errorf("choose serial number for %s: %w", name, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("generate key of %s: %w", name, err)
	}
	template.SerialNumber = serial
	template.NotBefore = a.certificate.NotBefore
	template.NotAfter = a.certificate.NotAfter
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("create certificate of %s: %w", name, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("encode key of %s: %w", name, err)
	}
	return pair{certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: keyPEM}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// write stores the pair as dir/name.crt and dir/name.key.
func (p pair) write(dir, name string) error {
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), p.certificate, 0o600); err != nil {
		return fmt.Errorf("write certificate %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".key"), p.key, 0o600); err != nil {
		return fmt.Errorf("write key %s: %w", name, err)
	}
	return nil
}
