package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Output stays above the lines; they are erased and redrawn, cut to the terminal and never
// more than there is room for.
func TestRegionIsDrawnInPlace(t *testing.T) {
	var out bytes.Buffer
	r := NewRegion(&out, func() (int, int) { return 12, 5 })
	for _, step := range []struct {
		why  string
		do   func()
		want string
	}{
		{"nothing to see is nothing to write", func() { r.Show(nil) }, ""},
		{"without lines a text is a text", func() { _, _ = r.Write([]byte("a\n")) }, "a\n"},
		{"drawn, and cut to 11 characters", func() { r.Show([]string{"one", "twelve chars"}) }, "one\ntwelve cha…\n"},
		{"wide characters take two columns", func() { r.Show([]string{"設定設定設定"}) }, "\x1b[2A\r\x1b[J設定設定設…\n"},
		{"two lines again", func() { r.Show([]string{"one", "twelve chars"}) }, "\x1b[1A\r\x1b[Jone\ntwelve cha…\n"},
		{"a text goes above", func() { _, _ = r.Write([]byte("b\n")) }, "\x1b[2A\r\x1b[Jb\none\ntwelve cha…\n"},
		{"more than there is room for", func() { r.Show(strings.Fields("1 2 3 4 5")) }, "\x1b[2A\r\x1b[J1\n2\n    … and …\n"},
		{"a question is not torn apart", func() { _, _ = r.Write([]byte("Go on? ")) }, "\x1b[3A\r\x1b[JGo on? "},
		{"gone", func() { r.Show([]string{"one"}); out.Reset(); r.Show(nil) }, "\x1b[1A\r\x1b[J"},
		{"and gone for good", func() { _, _ = r.Write([]byte("c\n")) }, "c\n"},
	} {
		out.Reset()
		step.do()
		if diff := cmp.Diff(step.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.why, diff)
		}
	}
}
