package command

import (
	"os"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// chartArgument is the chart that was typed: the last argument wherever there is one, and
// this folder otherwise.
func (p *program) chartArgument() string {
	if n := len(p.commandLine.arguments); n > 0 {
		return p.commandLine.arguments[n-1]
	}
	return "."
}

// hintMissing is how dependencies come into charts/. Only a folder can be given them.
func (p *program) hintMissing() string {
	folder := p.chartArgument()
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "package the chart again, with --dependency-update"
	}
	return "bring them: " + p.clusterless("dependency", "build", folder)
}

// readIndexAnew says whether the index that lacks a chart was fetched by this very command,
// so that repo update would fetch the same.
func (p *program) readIndexAnew() bool {
	return p.commandLine.path[0] == "dependency" || p.hasFlag("repo")
}

// hasFlag says whether a flag was given, by its first name.
func (p *program) hasFlag(flag string) bool {
	return slices.ContainsFunc(p.commandLine.flags, func(f givenFlag) bool { return f.name == flag })
}

// hintLogin is what to do when a registry wants other credentials.
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
