package values

import (
	"strings"
	"testing"
)

// A line is that of the key, however deep; the last document and the last of two equal
// keys count, as they do for the value.
func TestLine(t *testing.T) {
	const file = `# a comment
replicas: 2
image:
  repository: web
  tag: "1.5"
env:
- name: A
  value: x
- name: B
  value: y
base: &base {k: 1}
other: *base
twice: 1
twice: 2
---
image:
  tag: "1.6"
`
	for path, want := range map[string]int{
		"replicas": 2, "image repository": 4, "image tag": 17, "env [1] value": 10, "env B value": 10, "env B": 9,
		"base k": 11, "other k": 12, "twice": 14, "nowhere": 0, "image nothing": 16, "replicas deeper": 2,
	} {
		if got := Line([]byte(file), strings.Fields(path)); got != want {
			t.Errorf("%s is in line %d, want %d", path, got, want)
		}
	}
	if got := Line([]byte("a: [unclosed\n"), []string{"a"}); got != 0 {
		t.Errorf("no YAML: %d", got)
	}
}
