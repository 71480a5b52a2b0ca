package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNetrc(t *testing.T) {
	const file = `# of this machine
machine a.example.com login u password p
machine B.example.com
  login "a b" # a comment
  password "c\"d"
  account x
machine a.example.com login other password other
macdef init
cd /machine c.example.com login no password no

machine port.example.com:8443 login v password q
machine half.example.com login w
default login anonymous password x
machine last.example.com	login y	password z`
	want := map[string]Login{
		"a.example.com":         {"u", "p"},
		"b.example.com":         {"a b", `c"d`},
		"port.example.com:8443": {"v", "q"},
		"last.example.com":      {"y", "z"},
	}
	if diff := cmp.Diff(want, ParseNetrc([]byte(file))); diff != "" {
		t.Error(diff)
	}
	for _, odd := range []string{"", "machine", "machine x login", "password \"", "machine machine machine", "login u password p"} {
		if got := ParseNetrc([]byte(odd)); len(got) != 0 {
			t.Errorf("%q: %v", odd, got)
		}
	}
}

func TestNetrcMachine(t *testing.T) {
	for url, want := range map[string]string{
		"https://Charts.example.com/x":     "charts.example.com",
		"https://charts.example.com:443/x": "charts.example.com",
		"https://charts.example.com:8443/": "charts.example.com:8443",
		"http://charts.example.com/":       "",
		"oci://charts.example.com/x":       "",
		"%":                                "",
	} {
		if got := NetrcMachine(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
