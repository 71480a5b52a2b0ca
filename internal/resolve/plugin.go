package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Plugin is a program that fetches URLs of certain schemes, as described by its plugin.yaml: by
// Helm 3's downloaders, or as Helm 4's type getter/v1 (https://helm.sh/docs/topics/plugins/).
type Plugin struct {
	Name    string
	getters []pluginGetter
}

// pluginGetter holds the commands for some schemes, one for each platform.
type pluginGetter struct {
	schemes  []string
	commands []pluginCommand
}

type pluginCommand struct {
	OS      string   `json:"os"`
	Arch    string   `json:"arch"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// pluginFile is plugin.yaml in both formats.
type pluginFile struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Runtime string `json:"runtime"`
	// Downloaders are Helm 3's.
	Downloaders []struct {
		Command   string   `json:"command"`
		Protocols []string `json:"protocols"`
	} `json:"downloaders"`
	RuntimeConfig struct {
		ProtocolCommands []struct {
			Protocols       []string        `json:"protocols"`
			PlatformCommand []pluginCommand `json:"platformCommand"`
		} `json:"protocolCommands"`
	} `json:"runtimeConfig"`
}

// ParsePlugin parses a plugin.yaml. A plugin that is not a getter has no schemes. Errors: it is not
// YAML or has no name, or a getter's runtime is not subprocess (WebAssembly is not supported).
func ParsePlugin(data []byte) (Plugin, error) {
	var f pluginFile
	if err := yaml.Unmarshal(data, &f); err != nil {
		return Plugin{}, err
	}
	p := Plugin{Name: f.Name}
	if p.Name == "" {
		return p, errors.New("the plugin has no name")
	}
	for _, d := range f.Downloaders {
		words := strings.Fields(d.Command)
		if len(words) == 0 {
			continue
		}
		p.getters = append(p.getters, pluginGetter{d.Protocols, []pluginCommand{{Command: words[0], Args: words[1:]}}})
	}
	if f.Type != "getter/v1" {
		return p, nil
	}
	if f.Runtime != "subprocess" {
		return p, fmt.Errorf("plugin %s has runtime %q; only subprocess is supported", p.Name, f.Runtime)
	}
	for _, c := range f.RuntimeConfig.ProtocolCommands {
		p.getters = append(p.getters, pluginGetter{c.Protocols, c.PlatformCommand})
	}
	return p, nil
}

// Schemes returns the URL schemes that the plugin fetches.
func (p Plugin) Schemes() []string {
	var out []string
	for _, g := range p.getters {
		out = append(out, g.schemes...)
	}
	return out
}

// Command returns the program that fetches URLs of a scheme on a platform, and its first arguments,
// to which the caller appends those for the URL. As in Helm (4.3.1,
// internal/plugin/subprocess_commands.go, getPlatformCommand), a command for the operating system
// and architecture takes precedence over one for the system only, and that over one for any.
func (p Plugin) Command(scheme, goos, goarch string) (program string, args []string, ok bool) {
	for _, g := range p.getters {
		if !slices.Contains(g.schemes, scheme) {
			continue
		}
		for _, platform := range [][2]string{{goos, goarch}, {goos, ""}, {"", ""}} {
			for _, c := range g.commands {
				if c.Command != "" && c.OS == platform[0] && c.Arch == platform[1] {
					return c.Command, c.Args, true
				}
			}
		}
	}
	return "", nil, false
}
