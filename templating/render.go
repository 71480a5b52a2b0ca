// Package templating renders a chart: its input is a chart, values and capabilities, its output
// rendered files and notes. It executes Go templates with sprig's functions and those that Helm
// adds; results equal those of Helm 4.3.1 (https://github.com/helm/helm/tree/v4.3.1/pkg/engine).
// Endless templates and those with enormous output end in an error that names the place (see
// limits.go).
//
// It does not merge values or enable dependencies (package values does), does not split, sort or
// parse what was rendered (package manifest does), and sends no requests to a cluster: lookup is a
// function that it is given. It keeps nothing between two renders.
package templating

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/keyuse"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Options change how a chart is rendered. The zero value is what an install
// without a cluster uses.
type Options struct {
	// Strict makes reading a key that a map does not have an error.
	Strict bool
	// Lint lets required and fail pass; their messages become warnings.
	Lint bool
	// DNS lets getHostByName ask the network; without it the result is "".
	DNS bool
	// SubchartNotes adds the notes of subcharts to those of the chart.
	SubchartNotes bool
	// Watch lists tables of the values; Rendered.Seen says what was read of them.
	Watch []keyuse.Watched
	// Lookup is nil when there is no cluster: every lookup finds nothing.
	Lookup LookupFunc
	// Undiscovered says, by group version or group, why an API can't be discovered. It is an error
	// to ask .Capabilities.APIVersions for what it may have.
	Undiscovered map[string]string
	// Recall is shared by renders that are compared; with nil, random values are
	// really random.
	Recall *Recall
}

// Rendered is the result of rendering a chart tree.
type Rendered struct {
	// Files are all rendered files in order of their paths, without notes and
	// partials. Files that rendered to nothing are among them.
	Files []manifest.File
	// Notes is the text of NOTES.txt, the chart's own first.
	Notes string
	// Warnings are the messages of required and fail in lint mode.
	Warnings []string
	// Seen is what was read of Options.Watch, in that order. If the render fails,
	// it is what was read until then.
	Seen []keyuse.Seen
	// Exponents are the places where a large whole number became text with an
	// exponent, such as 1e+06.
	Exponents []Place
	// Unknown are the lookups that found nothing because their kind is unknown.
	Unknown []UnknownKind
}

// notesName ends the path of every file that is kept out of the manifests.
const notesName = "NOTES.txt"

// Render executes every template of c and its subcharts. top holds Release,
// Capabilities and Values (already merged); templates that change values
// change them in place, as under Helm, so callers pass a copy of their own.
// An error is an *Error when a template is at fault.
func Render(c *chart.Chart, top map[string]any, o Options) (Rendered, error) {
	if c == nil || c.Metadata == nil {
		return Rendered{}, fmt.Errorf("render chart: it has no metadata")
	}
	return newExecution(o).render(c, top)
}

func (e *execution) render(c *chart.Chart, top map[string]any) (Rendered, error) {
	sources := collect(c, top)
	if err := e.parse(sources); err != nil {
		return Rendered{}, err
	}
	texts := make(map[string]string, len(sources))
	for _, src := range sources {
		if strings.HasPrefix(path.Base(src.path), "_") {
			continue
		}
		text, err := e.file(src)
		if err != nil {
			return Rendered{Seen: e.reads.Seen(e.options.Watch)}, err
		}
		texts[src.path] = text
	}
	return e.sort(c, texts), nil
}

// sort separates notes from manifests and puts both in order.
func (e *execution) sort(c *chart.Chart, texts map[string]string) Rendered {
	out := Rendered{Warnings: e.warnings, Seen: e.reads.Seen(e.options.Watch), Exponents: e.exponents, Unknown: e.unknown}
	own := path.Join(c.Name(), "templates", notesName)
	notes := []string{}
	if text, ok := texts[own]; ok && text != "" {
		notes = append(notes, text)
	}
	for _, name := range sortedKeys(texts) {
		switch {
		case !strings.HasSuffix(name, notesName):
			out.Files = append(out.Files, manifest.File{Path: name, Content: texts[name]})
		case e.options.SubchartNotes && name != own && texts[name] != "":
			notes = append(notes, texts[name])
		}
	}
	out.Notes = strings.Join(notes, "\n")
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
