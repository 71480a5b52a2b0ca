package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// live redraws the objects in progress at intervals, until the stage ends.
func (p *Printer) live() {
	if p.Region == nil || p.redraw != nil {
		return
	}
	p.redraw = time.AfterFunc(redrawing, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.redraw == nil {
			return
		}
		p.Region.Show(p.pending(time.Now()))
		p.redraw.Reset(redrawing)
	})
}

// pending returns a line for each object that takes long, the earliest at the top.
func (p *Printer) pending(now time.Time) []string {
	var open []*stepProgress
	for _, s := range p.steps {
		if !s.ended && now.Sub(s.began) >= settling {
			open = append(open, s)
		}
	}
	slices.SortFunc(open, func(a, b *stepProgress) int {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.name, b.name))
	})
	var lines []string
	if p.stage.steps > 1 && len(open) > 0 {
		lines = append(lines, fmt.Sprintf("    %d/%d", p.stage.done, p.stage.steps))
	}
	for _, s := range open {
		state := s.state
		if state == "" {
			state = "under way"
		}
		line := fmt.Sprintf("    %s: %s, %s", firstLine(p.safe(s.name)), firstLine(p.safe(state)), now.Sub(s.began).Truncate(time.Second))
		if s.reason != "" {
			line += "; " + firstLine(p.safe(s.reason))
		}
		lines = append(lines, line)
	}
	return lines
}
