package command

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/findings"
)

// choices are the values of the flags that accept only a few values.
var choices = map[string][]string{
	"cascade":     {"background", "foreground", "orphan"},
	"color":       {"auto", "always", "never"},
	"dry-run":     {"none", "client", "server"},
	"server-side": {"auto", "true", "false"},
	"wait":        {"true", "false", "watcher", "hookOnly", "legacy"},
}

// outputs, eventOutputs, planOutputs, setOutputs and graphOutputs are the values of -o: for records, lists and
// runs, for the run of a set, for plans, for the plan of a set, and for plan graph.
var (
	outputs      = []string{"text", "json", "yaml"}
	eventOutputs = []string{"text", "json"}
	planOutputs  = append([]string{"text", "json", "yaml", "markdown", "summary", "html", "mermaid", "dot"}, findings.Formats()...)
	setOutputs   = append([]string{"text", "json", "yaml", "markdown", "summary", "html"}, findings.Formats()...)
	graphOutputs = []string{"mermaid", "dot"}
)

// oneOf joins words for a message, such as "text, json or yaml".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
