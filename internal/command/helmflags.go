package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
)

// helmFlag is a flag of Helm 4.3.1, or of 3.22.0, that our commands accept but ignore. All other Helm flags are
// declared where they are read. A test compares both with the output of helm COMMAND --help.
type helmFlag struct {
	// names are the flag's names, such as "labels l".
	names string
	// commands are our commands that accept it, such as "install, plan show". "" stands for every
	// command that does not declare the flag itself.
	commands string
	// value is set if the flag has a value; for flags of lineRules.OptionalValue the value is optional.
	value bool
	// idle explains why the flag is not needed here. It is "" if Helm ignores the flag as well.
	idle string
	// reads refuses a value that install and upgrade refuse; nil accepts any value.
	reads func(text string) error
}

// installOnly are flags that Helm's template accepts and ignores, so scripts can use one list of
// flags for install, upgrade and template.
var installOnly = []helmFlag{
	{names: "create-namespace"},
	{names: "description", value: true},
	{names: "force-conflicts"},
	{names: "force-replace force"},
	{names: "hide-notes"},
	{names: "labels l", value: true, reads: func(text string) error { _, err := labelPairs([]string{text}); return err }},
	{names: "replace"},
	{names: "rollback-on-failure atomic"},
	{names: "server-side", value: true, reads: func(text string) error { _, err := serverSide(text); return err }},
	{names: "take-ownership"},
	{names: "timeout", value: true, reads: isTime},
	{names: "wait", value: true, reads: func(text string) error { _, err := waits(text); return err }},
	{names: "wait-for-jobs"},
}

// helmFlags are the other flags that we accept and ignore.
var helmFlags = []helmFlag{
	{names: "color colour", value: true}, // lists and records are never coloured
	{names: "repository-config", value: true},
	{names: "repository-cache", value: true},
	{names: "registry-config", value: true},
	{names: "content-cache", value: true},
	{names: "show-desc", commands: "status"}, // Helm 3's, as the next five; the description is shown anyway
	{names: "show-resources", commands: "status"},
	{names: "client c", commands: "version"},                     // it does nothing there, either
	{names: "no-update", commands: "repo add"},                   // nor does this
	{names: "fail-on-repo-update-fail", commands: "repo update"}, // as always in Helm 4, and here
	{
		names: "recreate-pods", commands: "upgrade, rollback",
		idle: "pods are replaced where their template changes; kubectl rollout restart replaces others",
	},
	{
		names: "disable-openapi-validation", commands: "install, upgrade, template",
		idle: "objects are never checked against the cluster's schema on this side; the API server checks what it is sent",
	},
}

// lineRules are what a line may contain beyond what its flags declare.
var lineRules = &argv.Rules{
	// Written as in Helm 4.
	OptionalValue: map[string]string{"wait": "true", "server-side": "true", "dry-run": "unset"},
	// In Helm, the value of --server-side is optional for install but required for upgrade and rollback.
	SeparateValues: map[string][]string{"server-side": {"auto", "true", "false"}},
	Instead:        map[string]string{"plugin": "plugins are Helm's: use helm plugin"},
	Lacking:        map[string]string{"plan many --untrusted": "plan many has none of the flags that it refuses"},
	NoCommand:      map[string]string{"-v": "it is the log level, as in -v 6; the command version prints the version"},
}

// helmFlagsOf returns the Helm flags that a command accepts and ignores.
func helmFlagsOf(path string, own []cli.Flag) []helmFlag {
	all := helmFlags
	if path == "template" {
		all = slices.Concat(installOnly, helmFlags)
	}
	declared := argv.Index(own)
	return slices.DeleteFunc(slices.Clone(all), func(f helmFlag) bool {
		return declared[f.name()] != nil || f.commands != "" && !slices.Contains(strings.Split(f.commands, ", "), path)
	})
}

func (f helmFlag) name() string { return strings.Fields(f.names)[0] }

// flag declares the flag for the parser. No help shows it.
func (f helmFlag) flag() cli.Flag {
	names := strings.Fields(f.names)
	if f.value {
		return &cli.StringFlag{Name: names[0], Aliases: names[1:], Hidden: true}
	}
	return &cli.BoolFlag{Name: names[0], Aliases: names[1:], Hidden: true}
}

// take prints one warning that lists the given flags that have no effect. It returns an error for
// an invalid value, even of a flag that is ignored.
func (p *program) take(c *cli.Context, given []helmFlag) error {
	var idle []string
	for _, f := range given {
		if f.reads != nil && c.IsSet(f.name()) {
			if err := f.reads(c.String(f.name())); err != nil {
				return err
			}
		}
		if f.idle != "" && c.IsSet(f.name()) {
			idle = append(idle, fmt.Sprintf("--%s does nothing: %s", f.name(), f.idle))
		}
	}
	if len(idle) > 0 {
		p.warn(strings.Join(idle, "; "))
	}
	return nil
}

func isTime(text string) error {
	if _, err := time.ParseDuration(text); err != nil {
		return usage("--timeout=%s: must be a duration, such as 5m", text)
	}
	return nil
}
