package releasestore

import (
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Helm packs as tightly as gzip can. A record that fits so is not refused.
func TestRecordsThatJustFit(t *testing.T) {
	r := &release.Revision{Name: "web", Namespace: "default", Version: 1}
	words, random := strings.Fields("image: replicas: name: labels: app web db cache true false 8080 nginx redis"), rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 3*MaxSize {
		fmt.Fprintf(&text, "%s %d ", words[random.IntN(len(words))], random.IntN(100000))
	}
	const step = 1 << 10
	packed := func(steps, level int) int {
		r.Manifest = text.String()[:steps*step]
		record, err := encodeAt(r, level)
		if err != nil {
			t.Fatal(err)
		}
		return len(record)
	}
	first := sort.Search(text.Len()/step, func(n int) bool { return packed(n, gzip.DefaultCompression) > MaxSize })
	if packed(first, gzip.DefaultCompression) <= MaxSize || packed(first, gzip.BestCompression) > MaxSize {
		t.Fatal("the text proves nothing")
	}
	if size, err := Size(r); err != nil || size > MaxSize {
		t.Errorf("%d bytes, %v", size, err)
	}
}
