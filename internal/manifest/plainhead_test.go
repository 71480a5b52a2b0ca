package manifest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const plainDocument = `# Source: web/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment # of the shop
metadata:
  name: web
  annotations:
    helm.sh/hook: "pre-install,pre-upgrade"
    note: plain text
  labels: {}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        image: "shop/web:1.9"
        args: ["--port", "80", serve]
        command:
        - sh
        - -c
        - |
          # not a comment: but text
          echo "$HOME"
           deeper

      # a comment
      - name: sidecar
        description: a plain scalar over
          two lines, and

          a third
        quoted: 'it''s
          long'
        double: "with \"escapes\" and \
          a fold"
      nothing:
      affinity: {key: app, values: [web, "x y"], empty: {}}
      path: .spec.name
      emptied:
        {}
      items:
        -
          a: b
        - c
`

// What plainHead takes, the YAML library takes, with the same head; what is
// listed as plain here must be, or the speed is gone.
func TestPlainHead(t *testing.T) {
	for why, c := range map[string]struct {
		text  string
		plain bool
	}{
		"an ordinary manifest":                          {plainDocument, true},
		"a list at the indent of its key":               {"kind: A\nitems:\n- a: 1\n  b:\n  - c\n- d\n", true},
		"a truth value is no name":                      {"kind: yes\n", false},
		"a number is no name":                           {"kind: A\nmetadata:\n  name: 1\n", false},
		"a key that differs in case only counts too":    {"Kind: A\n", false},
		"a kind that comes twice":                       {"kind: A\nkind: B\n", false},
		"tabs":                                          {"kind: A\ndata:\n\tx: y\n", false},
		"an alias":                                      {"kind: A\na: &x b\nc: *x\n", false},
		"a merge key":                                   {"kind: A\n<<: {a: b}\n", false},
		"a mapping inside a plain scalar":               {"kind: A\na: b: c\n", false},
		"a list item in the place of a key":             {"kind: A\na:\n  b: c\n  - d\n", false},
		"a line that is out of step":                    {"kind: A\na:\n    b: c\n  d: e\n", false},
		"a quote that is never closed":                  {"kind: A\na: 'b\n", false},
		"a block scalar that begins too deep":           {"kind: A\na: |\n     \n  b\n", false},
		"a tag":                                         {"kind: A\na: !!binary x\n", false},
		"infinity has no JSON":                          {"kind: A\na: .inf\n", false},
		"a null key has no JSON":                        {"kind: A\nnull: a\n", false},
		"text behind a comment is not the scalar's":     {"kind: A\na: b # c\n  d\n", false},
		"the end of a document":                         {"kind: A\n...\nb: c\n", false},
		"a separator that is a character of its own":    {"kind: A\u2028b: c\n", false},
		"an annotation that is no string is an error":   {"kind: A\nmetadata:\n  annotations:\n    a:\n      b: c\n", false},
		"a scalar where metadata should be is an error": {"kind: A\nmetadata: web\n", false},
	} {
		t.Run(why, func(t *testing.T) {
			if plain := agree(t, c.text); plain != c.plain {
				t.Errorf("plain is %v, want %v", plain, c.plain)
			}
		})
	}
}

// FuzzPlainHead compares plainHead with the YAML library.
func FuzzPlainHead(f *testing.F) {
	f.Add(plainDocument)
	files, err := filepath.Glob("../../plan/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, doc := range Split(string(data)) {
			f.Add(doc)
		}
	}
	f.Fuzz(func(t *testing.T, text string) { agree(t, text) })
}

// Nearly plain text is where a mistake would hide: documents with lines moved, dropped,
// doubled, indented differently and extended by odd pieces.
func TestNearlyPlainHeads(t *testing.T) {
	pieces := []string{
		": ", " #", "- ", "'", "\"", "|", ">-", "[a, b]", "{}", "\\", "&x", "*x", "!!str ", "? ", "...", "%", "@", "~", "null", "yes", "1.5", ".nan",
		"#", ":", "a:", "- - ", "  ", "\n", "\n\n", "<<: ", "0x1F", "2001-01-01", "-", "=", "{a: b}", "[", "]", ",", "||", ">2", "|+",
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed seed, so that a failure comes again
	taken := 0
	for range 60_000 {
		lines := strings.Split(plainDocument, "\n")
		from := random.IntN(len(lines) - 5)
		lines = lines[from : from+5+random.IntN(len(lines)-from-4)]
		lines = append([]string{"kind: A", "x:"}, slices.Clone(lines)...)
		for range 1 + random.IntN(3) {
			i, j := random.IntN(len(lines)), random.IntN(len(lines))
			switch random.IntN(6) {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines[i], lines[j] = lines[j], lines[i]
			case 2:
				lines = slices.Insert(lines, i, lines[j])
			case 3:
				lines[i] = strings.Repeat(" ", random.IntN(4)) + lines[i]
			case 4:
				lines[i] = strings.TrimPrefix(lines[i], strings.Repeat(" ", 1+random.IntN(3)))
			case 5:
				at := random.IntN(len(lines[i]) + 1)
				lines[i] = lines[i][:at] + pieces[random.IntN(len(pieces))] + lines[i][at:]
			}
		}
		if agree(t, strings.Join(lines, "\n")) {
			taken++
		}
		if t.Failed() {
			return
		}
	}
	if taken < 1000 {
		t.Errorf("only %d documents were plain: nothing was tried", taken)
	}
}

func agree(t *testing.T, text string) (plain bool) {
	t.Helper()
	agreeOnTree(t, text)
	got, plain := plainHead(text)
	if !plain {
		return false
	}
	var want Head
	if err := yaml.Unmarshal([]byte(text), &want); err != nil {
		t.Fatalf("taken for plain, and the YAML library says: %v\n%s", err, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the head differs (-want +got):\n%s\n%s", diff, text)
	}
	if found, err := readHead(text, &want); err != nil || len(found) > 0 {
		t.Errorf("taken for plain with keys that come twice (%v, %v):\n%s", found, err, text)
	}
	return true
}
