package progress

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// gathering is how long reasons are gathered, so a cause that many objects share is printed only
// once.
const gathering = 100 * time.Millisecond

// because prints the reasons for a state that lasts, together with those that arrive for other
// objects at the same time.
func (p *Printer) because(e apply.Event) {
	p.reasons = append(p.reasons, e)
	if p.telling == nil {
		p.telling = time.AfterFunc(gathering, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.tellReasons()
		})
	}
}

// tellReasons prints the gathered reasons: the objects with the same causes in one line, then the
// causes, then the end of one log.
func (p *Printer) tellReasons() {
	if p.telling != nil {
		p.telling.Stop()
		p.telling = nil
	}
	for len(p.reasons) > 0 {
		first := p.reasons[0]
		var alike []apply.Event
		p.reasons = slices.DeleteFunc(p.reasons, func(e apply.Event) bool {
			same := apply.SameCauses(first.Reasons, e.Reasons)
			if same {
				alike = append(alike, e)
			}
			return same
		})
		p.tellAlike(alike)
	}
}

// tellAlike prints events that have the same causes.
func (p *Printer) tellAlike(alike []apply.Event) {
	diagnosis := apply.Diagnosis{Log: alike[0].Log}
	var objects []manifest.ID
	for _, e := range alike {
		objects = append(objects, e.Object)
		diagnosis.Reasons = append(diagnosis.Reasons, e.Reasons...)
	}
	diagnosis.Reasons = apply.Grouped(diagnosis.Reasons)
	if len(alike) == 1 {
		p.line("    %s: %s", subject(alike[0]), alike[0].Message)
	} else {
		p.line("    not ready: %s", plan.SummarizeObjects(objects))
	}
	p.block(diagnosis.Text())
}

// block prints lines that belong together: a secret may take several of them.
func (p *Printer) block(lines []string) {
	if len(lines) > 0 {
		p.line("%s", indentBy("      ", strings.Join(lines, "\n")))
	}
}
