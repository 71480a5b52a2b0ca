package resolve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Entry is one version of a chart in an index.
type Entry struct {
	chart.Metadata
	URLs    []string `json:"urls"`
	Created string   `json:"created"`
	// Digest is the SHA-256 of the archive in hex, with or without "sha256:".
	Digest string `json:"digest"`
}

// Index is an index.yaml, or part of one. The entries of a chart are decoded on demand.
type Index struct {
	// APIVersion is the file's apiVersion.
	APIVersion string
	// Generated is when the file was generated, or "" if it does not say.
	Generated string
	// Names holds the charts' names in the file's order.
	Names  []string
	charts map[string][]byte
}

// Limits of an index; the largest public ones are about 30 MB.
const (
	// MaxIndexBytes limits the size of an index.
	MaxIndexBytes = 256 << 20
	// maxChartBytes limits the size of the entries of one chart.
	maxChartBytes = 16 << 20
	// maxWhole limits the size of an index that does not have Helm's layout.
	maxWhole = 16 << 20
	// maxCharts limits the number of charts in an index.
	maxCharts = 200_000
)

// ReadIndex reads an index as a stream. It decodes only the names of charts, and keeps the entries
// of those that wanted selects. JSON is read as JSON, everything else as YAML. Errors: the index is
// empty, has no apiVersion, lists a chart twice, or exceeds the limits.
func ReadIndex(r io.ReadSeeker, wanted func(name string) bool) (*Index, error) {
	x, err := readIndex(r, scan, wanted)
	if !errors.Is(err, errOtherForm) {
		return x, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return readIndex(r, scanWhole, wanted)
}

func readIndex(r io.Reader, scan func(io.Reader, keep) (head, error), wanted func(name string) bool) (*Index, error) {
	x := &Index{charts: map[string][]byte{}}
	keep := func(name string, text []byte) error {
		if _, twice := x.charts[name]; twice {
			return fmt.Errorf("chart %q is listed twice", name)
		}
		if len(x.Names) == maxCharts {
			return fmt.Errorf("it has more than %d charts", maxCharts)
		}
		x.Names = append(x.Names, name)
		x.charts[name] = nil
		if wanted(name) {
			x.charts[name] = bytes.Clone(text)
		}
		return nil
	}
	head, err := scan(r, keep)
	if err != nil {
		return nil, err
	}
	x.APIVersion, x.Generated = head.APIVersion, head.Generated
	if x.APIVersion == "" {
		return nil, errors.New("it has no apiVersion")
	}
	return x, nil
}

// scan splits an index into charts.
func scan(r io.Reader, keep keep) (head, error) {
	in := bufio.NewReaderSize(&limit{r: r, left: MaxIndexBytes}, 64<<10)
	if start, _ := in.Peek(len(bom)); string(start) == bom {
		_, _ = in.Discard(len(bom))
	}
	start, err := in.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return head{}, errors.New("it is empty")
	case err != nil:
		return head{}, err
	case start[0] == '{':
		return scanJSON(in, keep)
	}
	return (&cutter{keep: keep, top: map[string]bool{}}).run(in)
}

// scanWhole parses an index as YAML of any layout.
func scanWhole(r io.Reader, keep keep) (head, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxWhole+1))
	if err != nil {
		return head{}, err
	}
	if len(text) > maxWhole {
		return head{}, fmt.Errorf("%w and is larger than %d MiB", errOtherForm, maxWhole>>20)
	}
	data, err := yaml.YAMLToJSONStrict(bytes.TrimPrefix(text, []byte(bom)))
	if err != nil {
		return head{}, err
	}
	return scanJSON(bytes.NewReader(data), keep)
}

const bom = "\xEF\xBB\xBF"

// limit is a reader that fails after left bytes.
type limit struct {
	r    io.Reader
	left int64
}

func (l *limit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it is larger than %d MiB", MaxIndexBytes>>20)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// All selects every chart for ReadIndex.
func All(string) bool { return true }

// Only returns a function that selects the named charts for ReadIndex.
func Only(names ...string) func(string) bool {
	return func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
}

// head is an index without its charts.
type head struct {
	APIVersion string `json:"apiVersion"`
	Generated  string `json:"generated"`
}

// Has reports whether the index has a chart.
func (x *Index) Has(name string) bool {
	_, ok := x.charts[name]
	return ok
}

// Versions returns the versions of a chart, highest first. Entries without a name or version, with
// invalid metadata, or with a version listed before are skipped with a warning. A chart that
// ReadIndex did not keep has no versions.
func (x *Index) Versions(name string) ([]Entry, []chart.Warning, error) {
	text := x.charts[name]
	if len(text) == 0 {
		return nil, nil, nil
	}
	list, err := decodeVersions(text)
	if err != nil {
		return nil, nil, fmt.Errorf("chart %s: %w", name, err)
	}
	var good []Entry
	var warnings []chart.Warning
	seen := map[string]bool{}
	warn := func(i int, format string, args ...any) {
		warnings = append(warnings, chart.Warning{Where: fmt.Sprintf("index.yaml/%s[%d]", name, i), What: fmt.Sprintf(format, args...)})
	}
	for i, raw := range list {
		e, err := decodeEntry(name, raw)
		switch {
		case err != nil:
			warn(i, "it is left out: %v", err)
		case seen[e.Version]:
			warn(i, "version %s is listed twice; the first counts", e.Version)
		default:
			seen[e.Version] = true
			good = append(good, *e)
		}
	}
	return sorted(good), warnings, nil
}

func sorted(entries []Entry) []Entry {
	out := make([]Entry, 0, len(entries))
	for _, i := range Descending(versions(entries)) {
		out = append(out, entries[i])
	}
	return out
}

func versions(entries []Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Version
	}
	return out
}

// decodeVersions decodes the entries of a chart: a JSON list, or a piece of YAML under the chart's
// key, in which duplicate keys are an error.
func decodeVersions(text []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if text[0] == '[' {
		return list, json.Unmarshal(text, &list)
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	// YAML may read a key differently from how it is written: y is a boolean.
	var keyed map[string][]json.RawMessage
	if err := json.Unmarshal(data, &keyed); err != nil {
		return nil, err
	}
	for _, versions := range keyed {
		list = versions
	}
	return list, nil
}

func decodeEntry(name string, raw []byte) (*Entry, error) {
	if string(raw) == "null" {
		return nil, errors.New("it is null")
	}
	e := &Entry{}
	if err := json.Unmarshal(raw, e); err != nil {
		return nil, err
	}
	if e.APIVersion == "" {
		e.APIVersion = chart.APIVersionV1
	}
	// Artifactory drops aliases, so two dependencies may have the same name
	// (https://github.com/helm/helm/issues/12748). The list in the archive is the one that counts.
	checked := e.Metadata
	checked.Dependencies = nil
	if err := checked.Validate(); err != nil {
		return nil, err
	}
	if e.Name != name {
		return nil, fmt.Errorf("it is called %q", e.Name)
	}
	for _, d := range e.Dependencies {
		if d == nil {
			return nil, errors.New("dependencies must not contain an empty entry")
		}
	}
	return e, nil
}
