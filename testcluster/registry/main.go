// Command registry serves an OCI registry without authentication from memory, over plain HTTP: it is
// go-containerregistry's, which compiles in seconds. Tests that need more use ../distribution.
//
// Usage: registry ADDRESS
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: registry ADDRESS")
		os.Exit(2)
	}
	requests := log.New(io.Discard, "", 0)
	err := http.ListenAndServe(os.Args[1], registry.New(registry.Logger(requests), registry.WithReferrersSupport(true)))
	fmt.Fprintln(os.Stderr, "registry:", err)
	os.Exit(1)
}
