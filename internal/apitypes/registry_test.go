package apitypes

import "testing"

func BenchmarkRegistry(b *testing.B) {
	for b.Loop() {
		newRegistry()
	}
}
