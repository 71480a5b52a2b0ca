package sourcetest

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Tokens is a token server for registries, as the distribution project specifies it:
// https://distribution.github.io/distribution/spec/auth/token/. Anybody may pull, and its
// user may also push. The refresh token is the password.
type Tokens struct {
	*Repository
	// CertFile contains the certificate of the signing key, which the registry trusts.
	CertFile       string
	user, password string
	chain          string
	key            *ecdsa.PrivateKey
}

// ServeTokens starts a token server, which is stopped at the end of the test. Its requests are
// recorded.
func ServeTokens(t testing.TB, user, password string) *Tokens {
	t.Helper()
	cert, key := certificate(t, t.TempDir())
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := &Tokens{
		CertFile: cert, user: user, password: password,
		chain: base64.StdEncoding.EncodeToString(pair.Certificate[0]), key: pair.PrivateKey.(*ecdsa.PrivateKey),
	}
	s.Repository = Serve(t, Options{Fault: s.answer})
	return s
}

// answer serves GET with basic authentication, and POST with OAuth 2.
func (s *Tokens) answer(w http.ResponseWriter, q *http.Request, _ int) bool {
	user, password, known := q.BasicAuth()
	if q.Method == http.MethodPost {
		known = true
		user, password = q.FormValue("username"), q.FormValue("password")
		if refresh := q.FormValue("refresh_token"); refresh != "" {
			user, password = s.user, refresh
		}
	}
	if known && (user != s.user || password != s.password) {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	text, err := s.token(q.FormValue("service"), strings.Fields(strings.Join(q.Form["scope"], " ")), known)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"token": text, "access_token": text, "expires_in": 300})
	return true
}

// token returns a signed JWT (RFC 7515) that allows what scopes ask for, or for an unknown user
// only pull.
func (s *Tokens) token(service string, scopes []string, known bool) (string, error) {
	type access struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		Actions []string `json:"actions"`
	}
	allowed := []access{}
	for _, scope := range scopes {
		parts := strings.Split(scope, ":")
		if len(parts) != 3 {
			continue
		}
		a := access{Type: parts[0], Name: parts[1]}
		for _, action := range strings.Split(parts[2], ",") {
			if known || action == "pull" {
				a.Actions = append(a.Actions, action)
			}
		}
		allowed = append(allowed, a)
	}
	now := time.Now()
	part := func(v any) (string, error) {
		data, err := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(data), err
	}
	header, err := part(map[string]any{"typ": "JWT", "alg": "ES256", "x5c": []string{s.chain}})
	if err != nil {
		return "", err
	}
	claims, err := part(map[string]any{
		"iss": "test", "sub": s.user, "aud": service, "iat": now.Unix(), "nbf": now.Add(-time.Minute).Unix(),
		"exp": now.Add(time.Hour).Unix(), "jti": fmt.Sprint(now.UnixNano()), "access": allowed,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(header + "." + claims))
	a, b, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", err
	}
	signature := append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...)
	return header + "." + claims + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
