package findings

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// mostAnnotations is the number of annotations of each level that GitHub accepts from one step; it
// silently drops any others.
const mostAnnotations = 10

// Annotations prints plans as workflow commands for GitHub Actions (and Gitea's), which turn them
// into annotations on the lines of a pull request
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). The last one of
// a level says how many more there are than GitHub shows.
func Annotations(w io.Writer, plans ...*plan.Document) error {
	commands := map[Level]string{Failure: "error", Warning: "warning", Note: "notice"}
	sorts := map[Level][]Finding{}
	for _, f := range Of(plans...) {
		sorts[f.Level] = append(sorts[f.Level], f)
	}
	var b strings.Builder
	for _, level := range Levels() {
		found := sorts[level]
		more := 0
		if len(found) > mostAnnotations {
			more = len(found) - mostAnnotations + 1
			found = found[:mostAnnotations-1]
		}
		for _, f := range found {
			b.WriteString(f.command(commands[level]))
		}
		if more > 0 {
			fmt.Fprintf(&b, "::%s title=kubectl release::%d more like this; the job summary lists them\n", commands[level], more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// command returns, for example, "::warning file=prod.yaml,line=3,title=shop/web
// risk/delete::Service/web: delete".
func (f Finding) command(name string) string {
	properties := []string{}
	if f.Place.File != "" {
		properties = append(properties, "file="+property(f.Place.File), fmt.Sprintf("line=%d", max(f.Place.Line, 1)))
	}
	properties = append(properties, "title="+property(f.Release+" "+f.Rule))
	return "::" + name + " " + strings.Join(properties, ",") + "::" + data(f.ofRelease()) + "\n"
}

// data and property escape what would end a command or one of its properties,
// as actions/toolkit does. Any other "::" within a line is plain text.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func data(s string) string { return dataEscapes.Replace(s) }

func property(s string) string { return propertyEscapes.Replace(s) }
