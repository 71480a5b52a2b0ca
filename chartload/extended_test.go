package chartload

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// block returns an entry of a tar file, with its content; change edits its header, which tar.Writer would
// not write as it is here.
func block(name string, kind byte, content string, change ...func(header []byte)) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00%011o\x00", len(content), 0))
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	for _, c := range change {
		c(h)
	}
	copy(h[148:], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	padding := (512 - len(content)%512) % 512
	return slices.Concat(h, []byte(content), make([]byte, padding))
}

// extended returns an extended header, with a record that replaces what the header of the next entry says.
func extended(records ...string) []byte {
	text := ""
	for _, r := range records {
		length := len(r) + 2
		for length != len(fmt.Sprint(length))+len(r)+2 {
			length = len(fmt.Sprint(length)) + len(r) + 2
		}
		text += fmt.Sprintf("%d %s\n", length, r)
	}
	return block("PaxHeaders/x", tar.TypeXHeader, text)
}

// sparse returns an entry that consists of a hole (GNU tar's old format).
func sparse(name string, size int64) []byte {
	return block(name, tar.TypeGNUSparse, "", func(h []byte) {
		copy(h[257:], "ustar  \x00")
		copy(h[483:], fmt.Sprintf("%011o\x00", size))
	})
}

// zipped returns a gzipped tar file.
func zipped(t *testing.T, blocks ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	if _, err := zw.Write(append(slices.Concat(blocks...), make([]byte, 1024)...)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What extended headers and sparse files say counts as what plain headers say: names do not lead out of
// the chart, and holes have a size.
func TestExtendedHeaders(t *testing.T) {
	head, plain := block("web/Chart.yaml", tar.TypeReg, chartYAML), block("web/x", tar.TypeReg, "x")
	many := [][]byte{head}
	for i := range 5 {
		many = append(many, sparse(fmt.Sprint("web/", i), 30<<20))
	}
	for why, tc := range map[string]struct {
		blocks [][]byte
		want   string
	}{
		"a name that leads out":                {[][]byte{head, extended("path=web/../../x"), plain}, `"web/../../x" leads out`},
		"an absolute name":                     {[][]byte{head, extended("path=web//etc/x"), plain}, "is an absolute path"},
		"a link that leads out":                {[][]byte{head, extended("linkpath=../../x"), block("web/x", tar.TypeSymlink, "")}, "is a link out of the chart"},
		"a large size":                         {[][]byte{head, extended("size=4294967296"), plain}, "its size of 4294967296 bytes"},
		"a name of a sparse file":              {[][]byte{head, extended("GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=web/../../x", "GNU.sparse.realsize=1"), block("web/x", tar.TypeReg, "0\n"+strings.Repeat("\x00", 510))}, `"web/../../x" leads out`},
		"a large sparse file":                  {[][]byte{head, sparse("web/x", 1<<32)}, "its size of 4294967296 bytes"},
		"sparse files that are large together": {many, "unpacks to more than"},
	} {
		t.Run(why, func(t *testing.T) {
			_, _, err := Archive(bytes.NewReader(zipped(t, tc.blocks...)), "web.tgz")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	c, _, err := Archive(bytes.NewReader(zipped(t, head, sparse("web/x", 10), extended("path=web/docs/y"), plain)), "web.tgz")
	if err != nil {
		t.Fatal(err)
	}
	if got := names(c.Files); !slices.Equal(got, []string{"x", "docs/y"}) || !bytes.Equal(c.Files[0].Data, make([]byte, 10)) {
		t.Errorf("%q, %q", got, c.Files[0].Data)
	}
}
