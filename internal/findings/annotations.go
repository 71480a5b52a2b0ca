package findings

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// mostAnnotations is the number of annotations of each level that GitHub and Azure Pipelines accept
// from one step; they silently drop any others (for Azure's: microsoft/azure-pipelines-agent,
// src/Agent.Worker/ExecutionContext.cs, AddIssue).
const mostAnnotations = 10

// Annotations prints plans as workflow commands for GitHub Actions (and Gitea's), which turn them
// into annotations on the lines of a pull request
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). The last one of
// a level says how many more there are than GitHub shows.
func Annotations(w io.Writer, plans ...*plan.Document) error {
	return annotate(w, map[Level]string{Failure: "error", Warning: "warning", Note: "notice"}, workflowCommand, plans)
}

// AzureAnnotations prints plans as logging commands for Azure Pipelines, as Annotations does for
// GitHub (https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands#logissue-log-an-error-or-warning).
// There are errors and warnings only: notes are left out.
func AzureAnnotations(w io.Writer, plans ...*plan.Document) error {
	return annotate(w, map[Level]string{Failure: "error", Warning: "warning"}, loggingCommand, plans)
}

// annotate prints findings of the levels that have a word, each as what command returns for it.
func annotate(w io.Writer, words map[Level]string, command func(word string, at plan.Place, title, message string) string, plans []*plan.Document) error {
	sorts := map[Level][]Finding{}
	for _, f := range Of(plans...) {
		sorts[f.Level] = append(sorts[f.Level], f)
	}
	var b strings.Builder
	for _, level := range Levels() {
		word, found := words[level], sorts[level]
		if word == "" {
			continue
		}
		more := 0
		if len(found) > mostAnnotations {
			more = len(found) - mostAnnotations + 1
			found = found[:mostAnnotations-1]
		}
		for _, f := range found {
			b.WriteString(command(word, f.Place, f.Release+" "+f.Rule, f.ofRelease()))
		}
		if more > 0 {
			b.WriteString(command(word, plan.Place{}, "kubectl release", fmt.Sprintf("%d more like this; the job summary lists them", more)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// workflowCommand returns, for example, "::warning file=prod.yaml,line=3,title=shop/web
// risk/delete::Service/web: delete".
func workflowCommand(word string, at plan.Place, title, message string) string {
	properties := []string{}
	if at.File != "" {
		properties = append(properties, "file="+property(at.File), fmt.Sprintf("line=%d", max(at.Line, 1)))
	}
	properties = append(properties, "title="+property(title))
	return "::" + word + " " + strings.Join(properties, ",") + "::" + data(message) + "\n"
}

// data and property escape what would end a command or one of its properties,
// as actions/toolkit does. Any other "::" within a line is plain text.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func data(s string) string { return dataEscapes.Replace(s) }

func property(s string) string { return propertyEscapes.Replace(s) }

// loggingCommand returns, for example, "##vso[task.logissue type=warning;sourcepath=prod.yaml;linenumber=3]shop/web
// risk/delete: Service/web: delete". Azure shows no title.
func loggingCommand(word string, at plan.Place, title, message string) string {
	properties := "type=" + word
	if at.File != "" {
		properties += fmt.Sprintf(";sourcepath=%s;linenumber=%d", azureProperty.Replace(at.File), max(at.Line, 1))
	}
	return "##vso[task.logissue " + properties + "]" + azureData.Replace(title+": "+message) + "\n"
}

// azureData and azureProperty escape as microsoft/azure-pipelines-task-lib does (node/taskcommand.ts,
// escapedata and escape). A "##vso[" that is not the first of a line is plain text
// (microsoft/azure-pipelines-agent, src/Microsoft.VisualStudio.Services.Agent/Command.cs, TryParse).
var (
	azureData     = strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A")
	azureProperty = strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A", "]", "%5D", ";", "%3B")
)
