package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// helmFlag is a flag of Helm 4.3.1 that commands of ours take and do not read. All of
// its other flags are declared where they are read; a test holds both to what
// helm COMMAND --help says.
type helmFlag struct {
	// names are its name and what else it is called, such as "labels l".
	names string
	// commands are those of ours that take it, such as "install, plan show"; "" is
	// every command that does not declare it by itself.
	commands string
	// value says that it has one; those of optionalValue may go without.
	value bool
	// idle is why nothing is missed although it does nothing here; "" is where Helm
	// makes nothing of it either.
	idle string
	// reads refuses a value that install and upgrade refuse; nil is for any value.
	reads func(text string) error
}

// installOnly are flags that Helm's template takes and makes nothing of, so that
// scripts can have one list of flags for install, upgrade and template.
var installOnly = []helmFlag{
	{names: "create-namespace"},
	{names: "description", value: true},
	{names: "force-conflicts"},
	{names: "force-replace force"},
	{names: "labels l", value: true},
	{names: "replace"},
	{names: "rollback-on-failure atomic"},
	{names: "server-side", value: true, reads: func(text string) error { _, err := serverSide(text); return err }},
	{names: "take-ownership"},
	{names: "timeout", value: true, reads: isTime},
	{names: "wait", value: true, reads: func(text string) error { _, err := waits(text); return err }},
	{names: "wait-for-jobs"},
}

// helmFlags are the others.
var helmFlags = []helmFlag{
	{names: "color colour", value: true}, // lists and records are printed without colours
	{names: "repository-config", value: true},
	{names: "repository-cache", value: true},
	{names: "registry-config", value: true},
	{names: "content-cache", value: true},
	{names: "hide-secret", commands: "upgrade"}, // a plan masks them
	{
		names: "disable-openapi-validation", commands: "install, upgrade, template",
		idle: "objects are not checked against the cluster's schema on this side in any case; the API server checks what it is sent",
	},
}

// helmCommands are commands of Helm's that we do not have, and what to do instead.
var helmCommands = map[string]string{
	"plugin": "plugins are Helm's: use helm plugin",
}

// helmFlagsOf are the flags of Helm's that a command takes besides its own.
func helmFlagsOf(path string, own []cli.Flag) []helmFlag {
	all := helmFlags
	if path == "template" {
		all = slices.Concat(installOnly, helmFlags)
	}
	declared := flagIndex(own)
	return slices.DeleteFunc(slices.Clone(all), func(f helmFlag) bool {
		return declared[f.name()] != nil || f.commands != "" && !slices.Contains(strings.Split(f.commands, ", "), path)
	})
}

func (f helmFlag) name() string { return strings.Fields(f.names)[0] }

// flag is what the parser is told of it. No help shows it.
func (f helmFlag) flag() cli.Flag {
	names := strings.Fields(f.names)
	if f.value {
		return &cli.StringFlag{Name: names[0], Aliases: names[1:], Hidden: true}
	}
	return &cli.BoolFlag{Name: names[0], Aliases: names[1:], Hidden: true}
}

// take says in one warning which of the flags that were given do nothing. Errors: values
// that make no sense, be they read or not.
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
		return usage("--timeout=%s: it is a duration, such as 5m", text)
	}
	return nil
}
