package chartload

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Room is what a chart may still hold to which subcharts are added after it was loaded: with them, it is within
// the limits of one that has them in its charts/.
type Room struct{ left *budget }

// RoomIn returns the room that a chart leaves. Errors: it exceeds the limits itself.
func RoomIn(c *chart.Chart) (*Room, error) {
	r := &Room{newBudget()}
	return r, r.left.chart(c, 0)
}

// Add counts a subchart. Errors: there is no room for it.
func (r *Room) Add(sub *chart.Chart) error { return r.left.chart(sub, 1) }

// chart counts a chart that was read from a folder or an archive, with its subcharts, as reading it has done.
func (b *budget) chart(c *chart.Chart, depth int) error {
	if depth > maxNesting {
		return errNesting
	}
	for _, f := range c.Raw {
		if strings.HasPrefix(f.Name, "charts/") {
			continue // a file of a subchart
		}
		err := b.entry(f.Name, int64(len(f.Data)))
		if err == nil && (f.Name == "Chart.yaml" || f.Name == valuesName) {
			err = b.yaml(f.Data)
		}
		if err != nil {
			return fmt.Errorf("chart %s: %w", c.Name(), err)
		}
	}
	for _, sub := range c.Dependencies() {
		if err := b.chart(sub, depth+1); err != nil {
			return err
		}
	}
	return nil
}
