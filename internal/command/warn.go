package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// warn prints a warning without the secrets that it quotes. The caller makes sure that it appears only
// once.
func (p *program) warn(text string) { p.warnMasked(p.errorMask().Text(text)) }

func (p *program) warnMasked(text string) { fmt.Fprintf(p.streams.Err, "Warning: %s\n", text) }

// noteOnce prints a note once per machine: it creates a file named after the topic in the user's
// cache. If that file cannot be written, the note is printed each time.
func (p *program) noteOnce(topic, text string) {
	if cache, err := os.UserCacheDir(); err == nil {
		folder := filepath.Join(cache, "kubectl-release", "noted")
		_ = os.MkdirAll(folder, 0o700)
		f, err := os.OpenFile(filepath.Join(folder, topic), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return
		}
		if err == nil {
			_ = f.Close()
		}
	}
	fmt.Fprintf(p.streams.Err, "Note, once: %s\n", text)
}

// serverWarning prints a warning from the API server, or one about a chart's server.
func (p *program) serverWarning(text string) {
	p.warn(text)
	p.presenter.warning(text)
}

// waiting shows which server has been waited for for a while.
func (p *program) waiting(text string) { p.presenter.waiting(p.errorMask().Text(text)) }

func (p *program) warnAll(warnings []chart.Warning) {
	for _, w := range warnings {
		p.warn(w.String())
	}
}

// warnings prints the warnings among a plan's problems, with secrets masked as in the plan itself.
func (p *program) warnings(made *plan.Plan) {
	if made.Summary.Warnings == 0 {
		return
	}
	for _, problem := range p.shownProblems(made) {
		if problem.Blocking {
			continue
		}
		text := problem.Text()
		if problem.Do != "" {
			text += "; " + problem.Do
		}
		p.warnMasked(text)
	}
}

// showWithWarnings prints a plan, which includes its warnings. It also prints them on standard
// error if the user will not read the plan right there.
func (p *program) showWithWarnings(o *showFlags, made *plan.Plan) error {
	if err := p.render(o, p.raw.Out, made); err != nil {
		return err
	}
	if !o.isText() || !terminal.ReadTogether(p.raw.Out, p.raw.Err) {
		p.warnings(made)
	}
	return nil
}
