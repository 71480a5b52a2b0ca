package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// shownInGraph is how many steps of a stage a graph names.
const shownInGraph = 10

// Mermaid prints the plan's stages as a Mermaid flowchart. Errors are those of w.
func Mermaid(w io.Writer, p *plan.Document) error {
	page, err := newPage(p, view{})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, mermaid(page))
	return err
}

func mermaid(p *page) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, s := range p.sections {
		label := mermaidText(fmt.Sprintf("%d %s", i+1, s.name))
		for _, line := range stageLines(s) {
			label += "<br/>" + mermaidText(line)
		}
		fmt.Fprintf(&b, "  s%d[\"%s\"]\n", i+1, label)
		if i > 0 {
			fmt.Fprintf(&b, "  s%d --> s%d\n", i, i+1)
		}
		if color := stageColor(s); color != "" {
			fmt.Fprintf(&b, "  style s%d stroke:%s,stroke-width:2px,text-align:left\n", i+1, color)
		}
	}
	if len(p.sections) == 0 {
		fmt.Fprintf(&b, "  s1[\"%s\"]\n", mermaidText(p.verdict))
	}
	return b.String()
}

// mermaidText escapes Mermaid's markup by its own kind of entities
// (https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters).
func mermaidText(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;", "&", "#38;").Replace(s)
}

// DOT prints the plan's stages for Graphviz. Errors are those of w.
func DOT(w io.Writer, p *plan.Document) error {
	page, err := newPage(p, view{})
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph plan {\n  label=\"%s\";\n  labelloc=t;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
		dotText(page.title))
	for i, s := range page.sections {
		label := dotText(fmt.Sprintf("%d %s", i+1, s.name)) + `\l`
		for _, line := range stageLines(s) {
			label += dotText(line) + `\l`
		}
		color := ""
		if c := stageColor(s); c != "" {
			color = fmt.Sprintf(", color=\"%s\"", c)
		}
		fmt.Fprintf(&b, "  s%d [label=\"%s\"%s];\n", i+1, label, color)
		if i > 0 {
			fmt.Fprintf(&b, "  s%d -> s%d;\n", i, i+1)
		}
	}
	b.WriteString("}\n")
	_, err = io.WriteString(w, b.String())
	return err
}

func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// stageLines lists the steps of a stage; if there are too many, those that delete come first.
func stageLines(s section) []string {
	var lines []string
	entries := s.entries
	if len(entries) > shownInGraph {
		entries = nil
		for _, first := range []bool{true, false} {
			for _, e := range s.entries {
				if destructive(e.op) == first {
					entries = append(entries, e)
				}
			}
		}
	}
	for i, e := range entries {
		if i == shownInGraph {
			lines = append(lines, fmt.Sprintf("… %d more", len(entries)-shownInGraph))
			break
		}
		lines = append(lines, strings.TrimSpace(mark(e.op)+" "+e.name))
	}
	if s.text != "" {
		lines = append(lines, s.text)
	}
	return append(lines, s.folded...)
}

// stageColor returns the colour of the most serious step.
func stageColor(s section) string {
	color := ""
	for _, e := range s.entries {
		switch {
		case destructive(e.op):
			return "#cf222e"
		case e.op == plan.OpRun:
			color = "#1b7c83"
		case color == "" && e.op == plan.OpCreate:
			color = "#1a7f37"
		case e.op != plan.OpCreate && color != "#1b7c83":
			color = "#9a6700"
		}
	}
	return color
}
