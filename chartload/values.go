package chartload

import (
	"path"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

const valuesName = "values.yaml"

// parsing is a values file that is being parsed in the background.
type parsing struct {
	done     chan struct{}
	table    map[string]any
	warnings []chart.Warning
	err      error
}

// parse starts parsing a values file in the background; where is its path in the chart tree. The
// rest of the chart is read meanwhile, which takes about as long for large charts.
func (l *loader) parse(data []byte, where string) *parsing {
	p := &parsing{done: make(chan struct{})}
	if p.err = l.budget.yaml(data); p.err != nil {
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		p.table, p.warnings, p.err = values.Parse(data, where)
	}()
	return p
}

// early starts parsing a file if it is the values file of a chart or subchart.
func (l *loader) early(f *chart.File, where string) {
	dir, name := path.Split(f.Name)
	if name != valuesName || dir != "" && path.Base(path.Dir(path.Clean(dir))) != "charts" {
		return
	}
	where = path.Join(where, f.Name)
	l.parsings[where] = l.parse(f.Data, where)
}

// values adds a chart's values to it, once their file has been parsed.
func (l *loader) values(c *chart.Chart, f *chart.File, where string) error {
	where = path.Join(where, f.Name)
	p, begun := l.parsings[where]
	if !begun {
		p = l.parse(f.Data, where)
	}
	<-p.done
	c.Values = p.table
	l.warnings = append(l.warnings, p.warnings...)
	return p.err
}
