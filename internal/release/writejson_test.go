package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// What is written piece by piece is what json.Marshal writes. In a record that was read, the outline comes first.
func TestWriteJSONWritesWhatMarshalWrites(t *testing.T) {
	type plain Revision
	for name, manifest := range map[string]string{
		"no manifest": "", "short": "a: 1\n", "long": strings.Repeat("# ä<&>\u2028\n", 30_000),
		"runes across pieces": "x" + strings.Repeat("€", 60_000), "not UTF-8": strings.Repeat("\xe2\x82", 70_000) + strings.Repeat("\x80", 140_000),
		"the mark": manifestMark,
	} {
		for values, config := range map[string]map[string]any{"": nil, ", the mark in the values": {"manifest": manifestMark, "a": "<b>"}} {
			t.Run(name+values, func(t *testing.T) {
				made := &Revision{Name: "web", Namespace: "shop", Version: 3, Chart: &chart.Chart{}, Manifest: manifest, Config: config, ApplyMethod: ServerSide}
				var got bytes.Buffer
				if err := made.WriteJSON(&got); err != nil {
					t.Fatal(err)
				}
				want, err := json.Marshal((*plain)(made))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Fatalf("%d bytes, want %d", got.Len(), len(want))
				}

				read, err := Read(bytes.Clone(want), new(MaxEntries))
				if err != nil {
					t.Fatal(err)
				}
				var first struct{ Name, Info, Chart json.RawMessage }
				var rest map[string]any
				if err := errors.Join(json.Unmarshal(want, &first), json.Unmarshal(want, &rest)); err != nil {
					t.Fatal(err)
				}
				maps.DeleteFunc(rest, func(name string, _ any) bool { return slices.Contains([]string{"name", "info", "chart"}, name) })
				sorted, err := json.Marshal(rest)
				if err != nil {
					t.Fatal(err)
				}
				rewritten := fmt.Sprintf(`{"name":%s,"info":%s,"chart":%s,%s`, first.Name, first.Info, first.Chart, sorted[1:])
				got.Reset()
				if err := read.WriteJSON(&got); err != nil {
					t.Fatal(err)
				}
				if got.String() != rewritten {
					t.Fatalf("read and written: %d bytes, want %d", got.Len(), len(rewritten))
				}
			})
		}
	}
}
