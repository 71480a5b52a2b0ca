package command

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/lint"
	"github.com/kubectl-release/kubectl-release/internal/report"
)

// printLinted prints the charts, a line per finding, and the counts. The words around them are
// Helm's (Helm 4.3.1, pkg/cmd/lint.go), because users search logs for them.
func (p *program) printLinted(o *lintFlags, out linted) error {
	if o.quiet {
		kept := []lint.Finding{}
		for _, f := range out.Findings {
			if f.Severity != lint.Info {
				kept = append(kept, f)
			}
		}
		out.Findings = kept
	}
	f, err := o.format()
	if err != nil {
		return err
	}
	if f != "text" {
		return p.structured(f, out)
	}
	if o.quiet && len(out.Findings) == 0 {
		return nil
	}
	failed := 0
	for _, chart := range out.paths {
		fmt.Fprintf(p.streams.Out, "==> Linting %s\n", escape.Line(chart))
		fails := false
		for _, finding := range out.Findings {
			if finding.Chart == chart {
				fmt.Fprintf(p.streams.Out, "%s\n", findingLine(finding))
				fails = fails || finding.Severity == lint.Error || finding.Severity == lint.Warning && o.strict
			}
		}
		if fails {
			failed++
		}
		fmt.Fprintln(p.streams.Out)
	}
	fmt.Fprintf(p.streams.Out, "%d chart(s) linted, %d chart(s) failed: %s, %s\n", out.Charts, failed, report.Count(out.Errors, "error", "errors"), report.Count(out.Warnings, "warning", "warnings"))
	return nil
}

// findingLine formats a finding: "error    chart/templates/a.yaml:3: Service/web: message".
func findingLine(f lint.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %s", f.Severity, escape.Line(joinChart(f.Chart, f.Path)))
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	b.WriteString(": ")
	if f.RenderedLine > 0 {
		fmt.Fprintf(&b, "rendered line %d: ", f.RenderedLine)
	}
	if f.Object != "" {
		b.WriteString(escape.Line(f.Object) + ": ")
	}
	before := ""
	for line := range strings.SplitSeq(f.Message, "\n") {
		switch line = strings.TrimSpace(line); {
		case strings.HasSuffix(before, ":"):
			b.WriteString(" ")
		case before != "":
			b.WriteString("; ")
		}
		b.WriteString(line)
		before = line
	}
	return b.String()
}

// joinChart returns the path of a chart's file as the user can open it.
func joinChart(dir, inside string) string {
	if inside == "" {
		return dir
	}
	return path.Join(filepath.ToSlash(dir), inside)
}
