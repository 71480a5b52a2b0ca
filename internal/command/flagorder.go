package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// optionalValue maps the flags that may be given without a value to what they then mean. They are
// written --flag or --flag=value, as in Helm 4.
var optionalValue = map[string]string{
	"wait": "true", "server-side": "true", "dry-run": "unset",
}

// separateValues lists the values that may follow such a flag as the next word. In Helm, the value
// of --server-side is optional for install but required for upgrade and rollback.
var separateValues = map[string][]string{"server-side": {"auto", "true", "false"}}

// flagsFirst moves flags before the arguments. urfave/cli stops at the first argument, but users
// write flags anywhere: "upgrade web ./chart -n shop --wait" must mean the same as "-n shop upgrade
// --wait web ./chart". Unknown flags are errors with a suggestion.
func flagsFirst(app *cli.App, args []string) (*flagOrder, error) {
	o := newFlagOrder(app)
	return o, o.takeAll(args)
}

func newFlagOrder(app *cli.App) *flagOrder {
	return &flagOrder{program: app.Name, commands: app.Commands, known: flagIndex(app.Flags), above: map[string]string{}}
}

// words returns the command line with the flags first, as urfave/cli expects it.
func (o *flagOrder) words() []string {
	out := slices.Clone(o.path)
	for _, f := range o.flags {
		out = append(out, f.word(o.known))
	}
	if len(o.arguments) > 0 && !o.help() {
		out = append(append(out, "--"), o.arguments...)
	}
	return out
}

// help reports whether help was requested. Given an argument, urfave/cli would look for a help
// topic of that name.
func (o *flagOrder) help() bool {
	return slices.ContainsFunc(o.flags, func(f givenFlag) bool { return f.name == "h" || f.name == "help" })
}

// noValueError reports that the last word is a flag whose value is missing.
type noValueError struct {
	flag cli.Flag
	// word is the flag as it was typed; alone says that no command came before it.
	word  string
	alone bool
}

func (e *noValueError) Error() string {
	if e.word == "-v" && e.alone {
		return "flag -v needs a value: it is the log level, as in -v 6; the command version prints the version"
	}
	return fmt.Sprintf("flag %s needs a value", e.word)
}

// flagOrder is a command line, split into commands, flags and arguments.
type flagOrder struct {
	program string
	// commands are the subcommands of the path so far.
	commands []*cli.Command
	// command is the last command of the path, or nil.
	command *cli.Command
	known   map[string]cli.Flag
	// above maps flags that belong to a command above the last one to that command, "plan".
	above map[string]string

	path, arguments []string
	flags           []givenFlag
	literal         bool
	// topic is set by "help COMMAND", which is read as "COMMAND --help".
	topic bool
}

// givenFlag is a flag as the user wrote it, without the dashes.
type givenFlag struct {
	name, value string
	hasValue    bool
}

// word returns the flag with its first name: urfave/cli refuses -f and --values on the same line.
func (f givenFlag) word(known map[string]cli.Flag) string {
	name := f.name
	if flag, ok := known[name]; ok {
		name = flag.Names()[0]
	}
	if f.hasValue {
		return "--" + name + "=" + f.value
	}
	return "--" + name
}

// takeAll parses the words of a line. Its error is a *noValueError or that of an unknown flag.
func (o *flagOrder) takeAll(rest []string) (err error) {
	for len(rest) > 0 && err == nil {
		rest, err = o.take(rest)
	}
	if o.literal && o.command != nil {
		// After "--" no word is a command, but urfave/cli would run a subcommand of that name.
		o.command.Subcommands = nil
	}
	if err == nil && o.topic && o.command == nil && len(o.arguments) > 0 {
		return unknownCommand(o.commands, o.arguments[0], o.program)
	}
	return err
}

// take parses the next word, and its value if it is a flag that needs one, and returns the
// remaining words.
func (o *flagOrder) take(rest []string) ([]string, error) {
	word := rest[0]
	switch {
	case o.literal || word == "-" || !strings.HasPrefix(word, "-"):
		if word == "help" && !o.literal && o.command == nil && len(o.arguments) == 0 && len(rest) > 1 {
			o.topic = true
			return append(slices.Clone(rest[1:]), "--help"), nil
		}
		if !o.literal && len(o.arguments) == 0 && o.enter(word) {
			return rest[1:], o.misplaced()
		}
		o.arguments = append(o.arguments, word)
		return rest[1:], nil
	case word == "--":
		o.literal = true
		return rest[1:], nil
	}
	name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	flag, known := o.find(name, rest)
	switch {
	case !known && word == "--version" && o.command == nil:
		o.enter("version")
		return rest[1:], nil
	case !known:
		return o.short(word, rest)
	}
	if hasValue || isSwitch(flag) {
		o.flags = append(o.flags, givenFlag{name, value, hasValue})
		return rest[1:], nil
	}
	separate := len(rest) > 1 && slices.Contains(separateValues[flag.Names()[0]], rest[1])
	if meant, optional := optionalValue[flag.Names()[0]]; optional && !separate {
		o.flags = append(o.flags, givenFlag{name, meant, true})
		return rest[1:], nil
	}
	if len(rest) < 2 {
		return nil, &noValueError{flag, word, len(o.path) == 0}
	}
	o.flags = append(o.flags, givenFlag{name, rest[1], true})
	return rest[2:], nil
}

// find looks up a flag among those of the program, of the command so far and, before any command,
// of the command that follows.
func (o *flagOrder) find(name string, rest []string) (cli.Flag, bool) {
	if f, ok := o.known[name]; ok {
		return f, true
	}
	if len(o.path) > 0 {
		return nil, false
	}
	for _, word := range rest[1:] {
		if c := findCommand(o.commands, word); c != nil {
			f, ok := flagIndex(c.Flags)[name]
			return f, ok
		}
	}
	return nil, false
}

// short parses the short forms that kubectl users write: -nshop, -ojson and -Aq.
func (o *flagOrder) short(word string, rest []string) ([]string, error) {
	letters := strings.TrimPrefix(word, "-")
	if strings.HasPrefix(letters, "-") || len(letters) < 2 {
		return nil, o.unknown(word)
	}
	flag, known := o.find(letters[:1], rest)
	if !known {
		return nil, o.unknown(word)
	}
	if !isSwitch(flag) {
		o.flags = append(o.flags, givenFlag{letters[:1], letters[1:], true})
		return rest[1:], nil
	}
	o.flags = append(o.flags, givenFlag{name: letters[:1]})
	return append([]string{"-" + letters[1:]}, rest[1:]...), nil
}

// unknown returns the error for a flag that the command does not have.
func (o *flagOrder) unknown(word string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	path, of := strings.Join(o.path, " "), o.above[name]
	switch {
	case name == "untrusted" && path == "plan many":
		return usage("unknown flag --untrusted: plan many has none of the flags that it refuses")
	case of != "":
		flag, _, _ := strings.Cut(word, "=")
		return usage("unknown flag %s: it belongs to %s, and this is %s", flag, of, path)
	}
	return unknownFlag(word, o.known)
}

// misplaced returns an error if a flag that was given before a subcommand belongs to the command above it.
func (o *flagOrder) misplaced() error {
	for _, f := range o.flags {
		if dashes := "--"; o.known[f.name] == nil && o.above[f.name] != "" {
			return o.unknown(dashes[:min(len(f.name), 2)] + f.name)
		}
	}
	return nil
}

// enter descends into a subcommand, and reports whether the word names one. What the command above it
// declares does not belong to it.
func (o *flagOrder) enter(word string) bool {
	c := findCommand(o.commands, word)
	if c == nil {
		return false
	}
	if o.command != nil {
		for name := range flagIndex(o.command.Flags) {
			delete(o.known, name)
			o.above[name] = strings.Join(o.path, " ")
		}
	}
	o.path = append(o.path, c.Name)
	o.command, o.commands = c, c.Subcommands
	for name, f := range flagIndex(c.Flags) {
		o.known[name] = f
		delete(o.above, name)
	}
	return true
}

func findCommand(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

func flagIndex(flags []cli.Flag) map[string]cli.Flag {
	index := map[string]cli.Flag{"help": cli.HelpFlag, "h": cli.HelpFlag}
	for _, f := range flags {
		for _, name := range namesOf(f) {
			index[name] = f
		}
	}
	return index
}

// namesOf is f.Names() without its regular expression, which cuts off what urfave/cli v1 read as
// further names. Over the few thousand flags of all commands, that expression takes an eighth of
// the run time of the smallest command.
func namesOf(f cli.Flag) []string {
	switch f := f.(type) {
	case *cli.StringFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.BoolFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.StringSliceFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.IntFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.DurationFlag:
		return append([]string{f.Name}, f.Aliases...)
	}
	return f.Names()
}

func isSwitch(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}
