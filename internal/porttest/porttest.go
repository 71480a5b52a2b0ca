// Package porttest finds ports for servers that a test starts as processes of their own.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
)

// Ports begin at first, and there are so many: they are below those that systems give to connections and for port 0
// (on Linux from 32768 on), so none is taken by chance between the search and the server's start.
const first, count = 20000, 10000

// next counts on from a random port: processes that search at the same time find different ones, and one process does
// not find a port twice.
var next atomic.Uint32

func init() { next.Store(rand.Uint32N(count)) }

// FreeAddress returns a HOST:PORT on 127.0.0.1 at which nothing is listening right now.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range count {
		address := fmt.Sprintf("127.0.0.1:%d", first+next.Add(1)%count)
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}
