package porttest

import (
	"net"
	"testing"
)

// Nobody else is given a port that has been found, neither by the system nor by another search.
func TestFreeAddress(t *testing.T) {
	found := map[string]bool{}
	for range 100 {
		address := FreeAddress(t)
		if at, err := net.ResolveTCPAddr("tcp", address); err != nil || found[address] || at.Port < first || at.Port >= first+count {
			t.Errorf("%s, %v; before: %v", address, err, found[address])
		}
		found[address] = true
	}
}
