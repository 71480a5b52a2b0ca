package setrun

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// closure is what an entry is made of, each part with the checksum of its content: two
// closures with equal sums give the same release, whatever their files are called.
type closure struct {
	parts []part
	// unknown says why the entry may have changed although no part has: its chart is
	// whatever version is newest.
	unknown string
}

// part is one of an entry's sources: its name as shown to users, and its checksum.
type part struct{ name, sum string }

// missing is the sum of a file that does not exist.
const missing = "missing"

func (s *Side) closure(e *releaseset.Entry) closure {
	var c closure
	add := func(name, sum string) { c.parts = append(c.parts, part{name, sum}) }
	if e.Chart.Path != "" {
		sum, err := s.charts.sum(e.Chart)
		if err != nil {
			sum = missing + err.Error()
		}
		add("chart", sum)
	} else {
		add("chart", checksumOf([]any{e.Chart, e.Chart.Tags, e.Chart.PlusTags}))
		if !pinned(e.Chart) && !s.charts.outside.shared(e.Chart.Name) && !e.Uninstalled {
			c.unknown = "chart without an exact version"
		}
	}
	for _, v := range e.Values {
		if v.File == "" {
			add("values", checksum(v.Inline))
		} else {
			add("values "+v.File, s.fileSum(v.File))
		}
	}
	if m := e.Manager; m != nil {
		add(m.String(), checksum([]byte(m.Sum())))
		add("values of the chart", s.valuesSum(m))
	}
	settings := e.Settings
	settings.File = nil
	for _, text := range e.Settings.File {
		key, name, _ := strings.Cut(text, "=")
		add("setFile "+name, checksumOf([]string{key, s.fileSum(name)}))
	}
	add("settings", checksumOf(struct {
		Settings    releaseset.Settings
		Options     releaseset.Options
		Needs       []releaseset.Key
		Uninstalled bool
		Cluster     releaseset.Cluster
	}{settings, e.Options, e.Needs, e.Uninstalled, s.Set.Clusters[e.Cluster]}))
	return c
}

func (s *Side) fileSum(name string) string {
	data, err := s.readFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return err.Error()
	}
	return checksum(data)
}

// pinned reports whether a reference always means the same chart. A tag that is a version, such as v1.2.3,
// is as exact as the version.
func pinned(c releaseset.Chart) bool {
	image, _, err := resolve.ParseImage(c.Name)
	tagged := err == nil && resolve.Wanted{Version: resolve.VersionOf(image.Tag)}.Exact()
	return tagged || strings.Contains(c.Name, "@sha256:") || strings.Contains(c.Version, "@sha256:") || resolve.Wanted{Version: c.Version}.Exact()
}

// because returns the names of the parts of c that differ from base or, if none does, why the entry
// may have changed anyway; nothing if it has not.
func (c closure) because(base closure) []string {
	var out []string
	for i, p := range c.parts {
		if i >= len(base.parts) || base.parts[i].sum != p.sum {
			out = append(out, p.name)
		}
	}
	if len(out) == 0 && len(base.parts) != len(c.parts) {
		out = append(out, "values")
	}
	if len(out) == 0 && c.unknown != "" {
		out = append(out, c.unknown)
	}
	return out
}
