package command

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// untrusted reports whether a server's certificate was rejected.
func untrusted(err error) bool { return isA[*tls.CertificateVerificationError](err) }

// hintCertificate is hint for a certificate that was rejected. unknown is the hint if nobody who is trusted has issued
// it, named what to do if it is for other names.
func hintCertificate(err error, unknown, named string) string {
	invalid, is := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case is && invalid.Reason == x509.Expired:
		return "the server's certificate has to be renewed, unless the clock of this machine is wrong"
	case isA[x509.HostnameError](err):
		return "is it the right address? " + named
	}
	return unknown
}

// uncertified reports whether a server wants a client certificate (Go 1.26, crypto/tls/alert.go,
// alertCertificateRequired, which TLS 1.3 servers send).
func uncertified(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && operation.Op == "remote error" && operation.Err.Error() == "tls: certificate required"
}

// proxied reports whether a request has failed at a proxy: it can't be reached, or does not connect. Then the error
// is no more than the text of its status (Go 1.26, net/http/transport.go, dialConn).
func proxied(err error) bool {
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return operation.Op == "proxyconnect"
	}
	request, sent := errors.AsType[*url.Error](err)
	for code := http.StatusBadRequest; sent && code < 600; code++ {
		if text := http.StatusText(code); text != "" && strings.EqualFold(request.Err.Error(), text) {
			return true
		}
	}
	return false
}

// unlogged reports whether the program that the kubeconfig names for credentials has failed (client-go 0.36,
// plugin/pkg/client/auth/exec/exec.go, RoundTrip, which does not wrap the error).
func unlogged(err error) bool {
	request, sent := errors.AsType[*url.Error](err)
	return sent && strings.HasPrefix(request.Err.Error(), "getting credentials: ")
}
