// Package invocation says how the program was called, so that the commands in its
// hints can be pasted: under the name that was typed, with the flags that say which
// cluster and namespace.
//
// It runs nothing and prints nothing.
package invocation

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Plugin is what the program is called as kubectl's plugin.
const Plugin = "kubectl release"

// Invocation is how the program was called. Its zero value is kubectl's plugin,
// without flags.
type Invocation struct {
	// Program is its name in a shell: "kubectl release", "helm release",
	// "./bin/kubectl-release".
	Program string
	// Flags are those of the connection, repeated by every command of a hint, each
	// followed by its value.
	Flags []string
}

// Name is what people type for a program with args[0] of arg0. helmPlugin is
// HELM_PLUGIN_NAME, which Helm sets for its plugins, and underscore is "_", which
// shells set to the path of the command that they start: kubectl replaces itself by
// a plugin's absolute path, so the shell has started something else then
// (https://github.com/kubernetes/kubectl/blob/v0.37.2/pkg/cmd/cmd.go,
// DefaultPluginHandler.Execute).
func Name(arg0, helmPlugin, underscore string) string {
	switch {
	case helmPlugin != "":
		return "helm " + helmPlugin
	case arg0 == "":
		return Plugin
	case filepath.IsAbs(arg0) && arg0 != underscore && strings.HasPrefix(filepath.Base(arg0), "kubectl-release"):
		return Plugin
	}
	return quote(arg0)
}

// WithoutNamespace is the invocation for a command that needs to be told of none: a
// saved plan knows its own.
func (i Invocation) WithoutNamespace() Invocation {
	if n := slices.Index(i.Flags, "--namespace"); n >= 0 {
		i.Flags = slices.Concat(i.Flags[:n], i.Flags[n+2:])
	}
	return i
}

// In is the invocation for commands about a namespace, whatever the kubeconfig says.
func (i Invocation) In(namespace string) Invocation {
	i = i.WithoutNamespace()
	i.Flags = slices.Concat([]string{"--namespace", namespace}, i.Flags)
	return i
}

// Command is a command of the program as a line for a POSIX shell; in args, flags stand
// before "--". Beside --all-namespaces no namespace is named.
func (i Invocation) Command(args ...string) string {
	if slices.Contains(args, "--all-namespaces") {
		i = i.WithoutNamespace()
	}
	words := []string{i.Program}
	if i.Program == "" {
		words[0] = Plugin
	}
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	for _, arg := range slices.Concat(args[:end], i.Flags, args[end:]) {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

var plain = regexp.MustCompile(`^[\w@%+=:,./~-]+$`)

// quote makes one word of what a shell would take for more, or for something else.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
