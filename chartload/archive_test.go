package chartload

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pack returns a gzipped tar. An entry's data is its content followed by zeros.
func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	tw := tar.NewWriter(zw)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content)) + e.zeros, Typeflag: e.kind, Linkname: e.link}
		if e.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: e.kind, PAXRecords: map[string]string{"comment": "commit"}}
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
		for left := e.zeros; left > 0; {
			n := min(left, 1<<20)
			if _, err := tw.Write(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			left -= n
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type entry struct {
	name, content string
	zeros         int64
	kind          byte
	link          string
}

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

func file(name, content string) entry { return entry{name: name, content: content, kind: tar.TypeReg} }

// Archives that Helm 4.3.1 reads, and what they are read as.
func TestArchive(t *testing.T) {
	sub := pack(t, file("redis/Chart.yaml", "apiVersion: v2\nname: redis\nversion: 1.0.0\n"))
	for _, tc := range []struct {
		why     string
		entries []entry
		files   []string
		subs    int
		warns   string
	}{
		{"a top folder named otherwise", []entry{file("other/Chart.yaml", chartYAML), file("other/x", "")}, []string{"x"}, 0, ""},
		{"Windows' separators", []entry{file(`web\Chart.yaml`, chartYAML), file(`web\docs\x`, "")}, []string{"docs/x"}, 0, ""},
		{"git's global header and folders", []entry{{kind: tar.TypeXGlobalHeader}, {name: "web/", kind: tar.TypeDir}, file("web/Chart.yaml", chartYAML)}, nil, 0, ""},
		{
			"an archive in charts/",
			[]entry{file("web/Chart.yaml", chartYAML), file("web/charts/redis-1.0.0.tgz", string(sub)), file("web/charts/redis-1.0.0.tgz.prov", "")},
			[]string{"charts/redis-1.0.0.tgz.prov"},
			1, "",
		},
		{"a hidden archive in charts/", []entry{file("web/Chart.yaml", chartYAML), file("web/charts/.redis.tgz", "no archive"), file("web/charts/_x/y", "")}, nil, 0, ""},
		{
			"a file given twice: the last one",
			[]entry{file("web/Chart.yaml", chartYAML), file("web/x", "1"), file("web/y", "1"), file("web/x", "2")},
			[]string{"y", "x"},
			0, "web.tgz/x: the archive contains it more than once; the last one is used",
		},
		{
			"an archive of a subchart given twice: the first one",
			[]entry{
				file("web/Chart.yaml", chartYAML), file("web/charts/s.tgz", string(pack(t, file("s/Chart.yaml", chartYAML)))),
				file("web/charts/s.tgz", "no archive"),
			},
			nil,
			1, "web.tgz/charts/s.tgz: the archive contains it more than once; the first one is used",
		},
		{
			"a link in the chart is an empty file",
			[]entry{file("web/Chart.yaml", chartYAML), {name: "web/a/x", kind: tar.TypeSymlink, link: "../Chart.yaml"}},
			[]string{"a/x"},
			0, "web.tgz/a/x: it is a link in an archive and is read as an empty file",
		},
		{".helmignore is for folders", []entry{file("web/Chart.yaml", chartYAML), file("web/.helmignore", "x"), file("web/x", "")}, []string{".helmignore", "x"}, 0, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			c, warnings, err := Archive(bytes.NewReader(pack(t, tc.entries...)), "dir/web.tgz")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.files, names(c.Files)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if len(c.Dependencies()) != tc.subs {
				t.Errorf("%d subcharts, want %d", len(c.Dependencies()), tc.subs)
			}
			got := ""
			for _, w := range warnings {
				got += w.String()
			}
			if got != tc.warns {
				t.Errorf("warnings %q, want %q", got, tc.warns)
			}
		})
	}
}

// Hostile archives end in an error that names the archive and says what is wrong,
// and no more than 256 MB are allocated.
func TestHostileArchives(t *testing.T) {
	head := file("web/Chart.yaml", chartYAML)
	with := func(e ...entry) []byte { return pack(t, append([]entry{head}, e...)...) }
	many := make([]entry, maxEntries+1)
	for i := range many {
		many[i] = file(fmt.Sprintf("web/f%d", i), "")
	}
	big := make([]entry, 5)
	for i := range big {
		big[i] = entry{name: fmt.Sprintf("web/f%d", i), zeros: 30 << 20, kind: tar.TypeReg}
	}
	nested := with(big[:3]...)
	matryoshka := []byte(nil)
	for i := range maxNesting + 3 {
		e := []entry{file("web/Chart.yaml", strings.Replace(chartYAML, "web", fmt.Sprint("web", i), 1))}
		if matryoshka != nil {
			e = append(e, file("web/charts/x.tgz", string(matryoshka)))
		}
		matryoshka = pack(t, e...)
	}
	for _, tc := range []struct {
		why  string
		data []byte
		want string
	}{
		{"no archive", []byte("a: 1\n"), "not a gzipped archive"},
		{"cut short", with(entry{name: "web/x", zeros: 1 << 16, kind: tar.TypeReg})[:80], "read"},
		{"nothing in it", pack(t), "contains no files"},
		{"no Chart.yaml", pack(t, file("web/x", "")), "Chart.yaml is missing"},
		{"no folder", pack(t, file("Chart.yaml", chartYAML)), `"Chart.yaml": the archive must contain one folder`},
		{"a file beside the folder", with(file("x", "")), `"x" is outside`},
		{"..", with(file("web/../../x", "")), `"web/../../x" leads out`},
		{".. with backslashes", with(file(`web\..\..\x`, "")), "leads out"},
		{"a name that begins with ..", with(file("web/..data/x", "")), "leads out"},
		{"absolute below the top", with(file("web//etc/passwd", "")), "absolute"},
		{"a drive below the top", with(file("web/c:/x", "")), "absolute"},
		{"a drive", with(file(`c:\x`, "")), "absolute"},
		{"dot segments only", with(file("web/././.", "")), "outside"},
		{"a link out", with(entry{name: "web/x", kind: tar.TypeSymlink, link: "../../etc/passwd"}), `"web/x" is a link out of the chart, to "../../etc/passwd"`},
		{"an absolute link", with(entry{name: "web/x", kind: tar.TypeSymlink, link: "/etc/passwd"}), "link out of the chart"},
		{"a hard link out", with(entry{name: "web/x", kind: tar.TypeLink, link: "../x"}), "link out of the chart"},
		{"a device", with(entry{name: "web/x", kind: tar.TypeChar}), `"web/x" is a device`},
		{"a pipe", with(entry{name: "web/x", kind: tar.TypeFifo}), "device"},
		{"too many entries", with(many...), fmt.Sprintf("more than %d files", maxEntries)},
		{"one large entry", with(entry{name: "web/x", zeros: maxEntryBytes + 1, kind: tar.TypeReg}), `"web/x": its size of 33554433 bytes`},
		{"large together", with(big...), "unpacks to more than"},
		{"large together, in subcharts", with(file("web/charts/a.tgz", string(nested)), file("web/charts/b.tgz", string(nested))), "subchart charts/b.tgz: "},
		{"archives in archives", matryoshka, "nest deeper than 32"},
		{"a subchart's folder named like an archive", with(file("web/charts/x.tgz/Chart.yaml", chartYAML)), "named like an archive"},
		{"a file in charts/", with(file("web/charts/README.md", "")), "subchart charts/README.md: charts/ may contain only charts"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := Archive(bytes.NewReader(tc.data), "dir/web.tgz")
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "web.tgz") {
				t.Errorf("error %v, want one with web.tgz and %q", err, tc.want)
			}
			// The total allocated is an upper bound of what was held at any time.
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 256 {
				t.Errorf("allocated %d MB", mb)
			}
		})
	}
}

// A stream is cut off with an error when its room is used up, not mistaken for
// a short archive.
func TestEndlessStream(t *testing.T) {
	l := limited{r: strings.NewReader(strings.Repeat("x", 100)), room: 10}
	if _, err := l.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "the archive unpacks to more than") {
		t.Errorf("reading past the room gave %v", err)
	}
}
