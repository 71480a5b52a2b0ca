//go:build cluster

package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// entry is one entry of an archive: its content, followed by zeros.
type entry struct {
	Name, Content string
	Zeros         int64
	Kind          byte // 0 for a file
	Link          string
}

// hostileArchives returns chart archives with hostile names, links, devices and bombs.
func hostileArchives() map[string]hostile {
	with := func(says string, entries ...entry) hostile {
		return hostile{Archive: append([]entry{{Name: "web/Chart.yaml", Content: plainChart}}, entries...), Names: "web.tgz", Says: says}
	}
	many := make([]entry, 40_000)
	for i := range many {
		many[i].Name = fmt.Sprintf("web/files/%d", i)
	}
	large := make([]entry, 8)
	for i := range large {
		large[i] = entry{Name: fmt.Sprintf("web/files/%d", i), Zeros: 30 << 20}
	}
	return map[string]hostile{
		"a name that leads out":                 with(`"web/../../x" leads out`, entry{Name: "web/../../x"}),
		"the same with backslashes":             with("leads out", entry{Name: `web\..\..\x`}),
		"an absolute name":                      with(`"/etc/passwd" is an absolute path`, entry{Name: "/etc/passwd"}),
		"an absolute name below the top":        with("absolute", entry{Name: "web//etc/passwd"}),
		"a drive":                               with("absolute", entry{Name: `c:\x`}),
		"a drive below the top":                 with("absolute", entry{Name: "web/c:/x"}),
		"dot segments only":                     with("outside", entry{Name: "web/././."}),
		"a separator for a name":                with("outside", entry{Name: `web\`}),
		"a link out of the chart":               with(`link out of the chart, to "../../etc/passwd"`, entry{Name: "web/x", Kind: tar.TypeSymlink, Link: "../../etc/passwd"}),
		"an absolute link":                      with("link out of the chart", entry{Name: "web/x", Kind: tar.TypeSymlink, Link: "/etc/passwd"}),
		"a hard link out of the chart":          with("link out of the chart", entry{Name: "web/x", Kind: tar.TypeLink, Link: "../x"}),
		"a device":                              with(`"web/x" is a device`, entry{Name: "web/x", Kind: tar.TypeChar}),
		"a block device":                        with(`"web/x" is a device`, entry{Name: "web/x", Kind: tar.TypeBlock}),
		"a pipe":                                with(`"web/x" is a device`, entry{Name: "web/x", Kind: tar.TypeFifo}),
		"a bomb of entries":                     with("more than 32768 files", many...),
		"a bomb of one entry":                   with(`"web/x"`, entry{Name: "web/x", Zeros: 1 << 30}),
		"a bomb of all together":                with("unpacks to more than", large...),
		"a bomb in a subchart":                  with("charts/a.tgz", entry{Name: "web/charts/a.tgz", Content: bomb(256 << 20)}),
		"a stream of zeros instead of archives": with("charts/a.tgz", entry{Name: "web/charts/a.tgz", Content: zeros(256 << 20)}),
		"terminal escapes in a name":            with(`\x1b[31m`, entry{Name: "web/../../\x1b[31mx"}),
		"a template with an escape in its name": {Archive: []entry{{Name: "web/Chart.yaml", Content: plainChart}, {Name: "web/templates/\x1b[31m.yaml", Content: "{{ fail `x` }}"}}, Names: `web/templates/\x1b[31m.yaml`},
	}
}

func packed(t *testing.T, entries []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := pack(&out, entries); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pack(out io.Writer, entries []entry) error {
	zipped, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		if e.Kind == 0 {
			e.Kind = tar.TypeReg
		}
		h := &tar.Header{Name: e.Name, Mode: 0o644, Size: int64(len(e.Content)) + e.Zeros, Typeflag: e.Kind, Linkname: e.Link}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(archive, io.MultiReader(strings.NewReader(e.Content), io.LimitReader(endlessZeros{}, e.Zeros))); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

// bomb returns a small archive with a file of that size.
func bomb(size int64) string {
	var out strings.Builder
	if err := pack(&out, []entry{{Name: "a/Chart.yaml", Content: rename("a")}, {Name: "a/x", Zeros: size}}); err != nil {
		panic(err)
	}
	return out.String()
}

// zeros returns that many zeros, compressed.
func zeros(size int64) string {
	var out strings.Builder
	zipped := gzip.NewWriter(&out)
	if _, err := io.CopyN(zipped, endlessZeros{}, size); err != nil {
		panic(err)
	}
	if err := zipped.Close(); err != nil {
		panic(err)
	}
	return out.String()
}

type endlessZeros struct{}

func (endlessZeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
