package resolve

import (
	"strings"
	"testing"
)

func TestParseSettings(t *testing.T) {
	s, err := ParseSettings([]byte("mirrors: [{prefix: oci://a/b/, to: oci://c/}]\nplainHTTP: [d:1]\nrealms: {e: [\"https://f\"]}\nverify: [{prefix: oci://a/b, key: k}]\n"))
	if err != nil || len(s.Verify) != 1 || len(s.Mirrors) != 1 || s.PlainHTTP[0] != "d:1" || s.Realms["e"][0] != "https://f" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ParseSettings(nil); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"mirror: []":                                                             "unknown field",
		"mirrors: [{prefix: a, to: b}]":                                          "must be URLs",
		"mirrors: [{prefix: oci://a, to: https://b}]":                            "are not of the same kind",
		"realms: {e: [f]}":                                                       "is not the URL of a server",
		"verify: [{prefix: a, key: b}]":                                          "must be a URL",
		"verify: [{prefix: oci://a}]":                                            "give one of a keyring, a key",
		"verify: [{prefix: oci://a, signers: [b], key: c}]":                      "signers require a keyring",
		"verify: [{prefix: oci://a, key: b, identity: c}]":                       "give one of",
		"verify: [{prefix: oci://a, identity: b, identityRegexp: c, issuer: d}]": "give one of",
		"verify: [{prefix: oci://a, identity: b}]":                               "must be given together",
		"verify: [{prefix: oci://a, key: b, issuer: c}]":                         "must be given together",
		"verify: [{prefix: oci://a, key: b, trustedRoot: c}]":                    "a trusted root requires an identity",
		"verify: [{prefix: oci://a, identityRegexp: (, issuer: c}]":              "can't be read",
	} {
		if _, err := ParseSettings([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A rule holds however the URL is spelled, and an index can't choose another one.
func TestRuleFor(t *testing.T) {
	rules := []Rule{
		{Prefix: "https://charts.example.com/", Key: "all"},
		{Prefix: "https://charts.example.com/acme", Key: "acme"},
		{Prefix: "oci://ghcr.io/acme", Key: "registry"},
		{Prefix: "https://mirror.example.com", Key: "mirror"},
	}
	for urls, want := range map[string]string{
		"https://charts.example.com/web.tgz":                               "all",
		"https://charts.example.com":                                       "all",
		"https://CHARTS.example.com:443/web.tgz?token=x":                   "all",
		"https://u:p@charts.example.com/a/../acme//web.tgz":                "acme",
		"https://charts.example.com/acme":                                  "acme",
		"https://charts.example.com/acme-evil/web.tgz":                     "all",
		"http://charts.example.com/web.tgz":                                "",
		"https://charts.example.com.evil.org/web.tgz":                      "",
		"https://charts.example.com:8443/web.tgz":                          "",
		"oci://ghcr.io/acme/web:1.0.0":                                     "registry",
		"oci://GHCR.io:443/acme/web@sha256:00":                             "registry",
		"oci://ghcr.io/acme:1.0.0":                                         "registry",
		"oci://ghcr.io/acmeevil/web":                                       "",
		"https://ghcr.io/acme/web":                                         "",
		"https://charts.example.com/acme https://mirror.example.com/x.tgz": "acme",
		"https://other.example.com https://mirror.example.com/x.tgz":       "mirror",
		"": "",
	} {
		got := ""
		if r := RuleFor(rules, strings.Split(urls, " ")...); r != nil {
			got = r.Key
		}
		if got != want {
			t.Errorf("%s: %q, want %q", urls, got, want)
		}
	}
}

func TestSettingsNameRegistries(t *testing.T) {
	s := Settings{
		Registries: []string{"a"}, PlainHTTP: []string{"b:1"}, Realms: map[string][]string{"c": {"https://x"}},
		Mirrors: []Mirror{{Prefix: "oci://d/", To: "oci://e/"}, {Prefix: "https://h/", To: "https://i/"}}, Verify: []Rule{{Prefix: "oci://f/acme"}},
	}
	for _, host := range []string{"a", "b:1", "c", "d", "f"} {
		if !s.Names(host) {
			t.Errorf("%s is not named", host)
		}
	}
	for _, host := range []string{"", "b", "e", "h", "x"} {
		if s.Names(host) {
			t.Errorf("%s is named", host)
		}
	}
}
