package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"slices"

	"k8s.io/client-go/rest"
)

// systemCA says that a server's certificate is verified with the machine's own certificate
// authorities.
const systemCA = "system"

// authority identifies the certificate authorities that verify the API server's certificate, as in
// plan.Cluster. The order of certificates and text around them make no difference. Errors: a file
// of the configuration can't be read.
func authority(config *rest.Config) (string, error) {
	config = rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return "", fmt.Errorf("read the certificates of the configuration: %w", err)
	}
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return "", fmt.Errorf("read the address of the API server: %w", err)
	}
	switch {
	case config.Insecure || address.Scheme != "https":
		return "", nil
	case len(config.CAData) == 0:
		return systemCA, nil
	}
	var certificates [][]byte
	for block, rest := pem.Decode(config.CAData); block != nil; block, rest = pem.Decode(rest) {
		certificates = append(certificates, block.Bytes)
	}
	slices.SortFunc(certificates, bytes.Compare)
	sum := sha256.New()
	for _, c := range slices.CompactFunc(certificates, bytes.Equal) {
		one := sha256.Sum256(c)
		sum.Write(one[:])
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}
