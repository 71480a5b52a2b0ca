// Package invocation says how the program was called, so the commands in its hints
// can be pasted: with the name that was typed, and the flags that select the
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

// Plugin is the program's name as a kubectl plugin.
const Plugin = "kubectl release"

// Invocation is how the program was called. Its zero value is the kubectl plugin,
// without flags.
type Invocation struct {
	// Program is its name in a shell: "kubectl release", "helm release",
	// "./bin/kubectl-release".
	Program string
	// Flags are those of the connection, which every command in a hint repeats, each
	// followed by its value.
	Flags []string
}

// Name returns what people type for a program whose args[0] is arg0. helmPlugin is
// HELM_PLUGIN_NAME, which Helm sets for its plugins, and underscore is "_", which
// shells set to the path of the command that they start: kubectl replaces itself with
// a plugin at its absolute path, so then the shell has started something else
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

// WithoutNamespace returns the invocation without --namespace, for a command that
// does not need it: a saved plan knows its own.
func (i Invocation) WithoutNamespace() Invocation {
	if n := slices.Index(i.Flags, "--namespace"); n >= 0 {
		i.Flags = slices.Concat(i.Flags[:n], i.Flags[n+2:])
	}
	return i
}

// In returns the invocation for commands in a namespace, whatever the kubeconfig says.
func (i Invocation) In(namespace string) Invocation {
	i = i.WithoutNamespace()
	i.Flags = slices.Concat([]string{"--namespace", namespace}, i.Flags)
	return i
}

// Using returns the invocation for commands in a cluster, by its kubeconfig context, whatever was typed; "" changes
// nothing.
func (i Invocation) Using(context string) Invocation {
	if context == "" {
		return i
	}
	if n := slices.Index(i.Flags, "--context"); n >= 0 {
		i.Flags = slices.Concat(i.Flags[:n], i.Flags[n+2:])
	}
	i.Flags = slices.Concat(i.Flags, []string{"--context", context})
	return i
}

// Command returns a command of the program as a line for a POSIX shell; its Flags go
// before a "--" in args. With --all-namespaces no namespace is named.
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

// quote returns word as a shell reads it as that one word.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
