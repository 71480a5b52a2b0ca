package command

import (
	"os"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// chartArgument returns the chart that the user typed: the last argument, or the current folder if
// there is none.
func (p *program) chartArgument() string {
	if n := len(p.commandLine.arguments); n > 0 {
		return p.commandLine.arguments[n-1]
	}
	return "."
}

// hintMissing says how to get missing dependencies into charts/, which only works if the chart is
// a folder.
func (p *program) hintMissing() string {
	folder := p.chartArgument()
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "package the chart again, with --dependency-update"
	}
	return "fetch them: " + p.clusterless("dependency", "build", folder)
}

// readIndexAnew reports whether this command itself has just fetched the index that lacks a chart.
// If so, repo update would only fetch the same index again.
func (p *program) readIndexAnew() bool {
	return p.commandLine.path[0] == "dependency" || p.hasFlag("repo")
}

// hasFlag reports whether a flag was given; flag is its first name.
func (p *program) hasFlag(flag string) bool {
	return slices.ContainsFunc(p.commandLine.flags, func(f givenFlag) bool { return f.name == flag })
}

// hintLogin says what to do if a registry refuses the credentials.
func (p *program) hintLogin() string {
	if p.commandLine.path[0] == "registry" {
		return "check the user name and the password; nothing was changed"
	}
	host := "HOST"
	for _, typed := range p.commandLine.arguments {
		if image, _, err := resolve.ParseImage(typed); err == nil {
			host = image.Host
		}
	}
	return p.clusterless("registry", "login", host) + ", or --username and --password"
}
