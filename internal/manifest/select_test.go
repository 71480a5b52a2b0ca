package manifest

import (
	"testing"
)

func TestSelects(t *testing.T) {
	id := ID{Group: "networking.k8s.io", Kind: "NetworkPolicy", Name: "web-1"}
	for filter, want := range map[string]bool{
		"networkpolicy": true, "NetworkPolicy/web-1": true, "networkpolicies/web-*": true, "networkpolicy.networking.k8s.io/web-1": true,
		"networkpolicy.example.com": false, "networkpolicy/web": false, "Ingress": false, "*/web-1": true, "networkpolicy/[": false,
	} {
		if got := Selects([]string{filter}, id); got != want {
			t.Errorf("selects(%q) = %v", filter, got)
		}
	}
}
