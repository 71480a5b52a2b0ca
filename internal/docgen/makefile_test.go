package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every make target in the README exists; CI runs demo and test themselves.
func TestReadmeMakeTargets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "make" {
			continue
		}
		targets++
		if !strings.Contains(string(makefile), "\n"+words[1]+":") {
			t.Errorf("README says %q, and the Makefile has no target %s", strings.TrimSpace(line), words[1])
		}
	}
	if targets == 0 {
		t.Error("README names no make target")
	}
}
