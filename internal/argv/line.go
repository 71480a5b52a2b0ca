package argv

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Parse splits a line, without the program's name. The line is never nil: after an error it has the words
// before the mistake. The error is a *NoValueError, or a *UsageError for an unknown flag.
func (r *Rules) Parse(app *cli.App, args []string) (*Line, error) {
	l := &Line{rules: r, program: app.Name, Commands: app.Commands, Known: Index(app.Flags), above: map[string]string{}}
	return l, l.takeAll(args)
}

// Words returns the line with the flags first, as urfave/cli expects it.
func (l *Line) Words() []string {
	out := slices.Clone(l.Path)
	for _, f := range l.Flags {
		out = append(out, f.word(l.Known))
	}
	if len(l.Arguments) > 0 && !l.help() {
		out = append(append(out, "--"), l.Arguments...)
	}
	return out
}

// help reports whether help was requested. Given an argument, urfave/cli would look for a help
// topic of that name.
func (l *Line) help() bool {
	return slices.ContainsFunc(l.Flags, func(f Flag) bool { return f.Name == "h" || f.Name == "help" })
}

// Line is a command line, split into commands, flags and arguments.
type Line struct {
	// Path are the names of the commands, such as "plan", "show".
	Path, Arguments []string
	Flags           []Flag
	// Command is the last command of the path, or nil; Commands are those below it.
	Command  *cli.Command
	Commands []*cli.Command
	// Known are the flags that may be given here, by each of their names.
	Known map[string]cli.Flag
	// Literal says that "--" was given: what follows are arguments.
	Literal bool

	rules   *Rules
	program string
	// above maps flags that belong to a command above the last one to that command, "plan".
	above map[string]string
	// topic is set by "help", alone or before a command, which is read as --help.
	topic bool
}

// Flag is a flag as the user wrote it, without the dashes.
type Flag struct {
	Name, Value string
	HasValue    bool
}

// word returns the flag with its first name: urfave/cli refuses -f and --values on the same line.
func (f Flag) word(known map[string]cli.Flag) string {
	name := f.Name
	if flag, ok := known[name]; ok {
		name = flag.Names()[0]
	}
	if f.HasValue {
		return "--" + name + "=" + f.Value
	}
	return "--" + name
}

// takeAll parses the words of a line.
func (l *Line) takeAll(rest []string) (err error) {
	for len(rest) > 0 && err == nil {
		rest, err = l.take(rest)
	}
	if l.Literal && l.Command != nil {
		// After "--" no word is a command, but urfave/cli would run a subcommand of that name.
		l.Command.Subcommands = nil
	}
	if err == nil && l.topic && l.Command == nil && len(l.Arguments) > 0 {
		return l.rules.UnknownCommand(l.Commands, l.Arguments[0], l.program)
	}
	if err == nil && l.Command != nil {
		err = l.strays()
	}
	return err
}

// take parses the next word, and its value if it is a flag that needs one, and returns the
// remaining words.
func (l *Line) take(rest []string) ([]string, error) {
	word := rest[0]
	switch {
	case l.Literal || word == "-" || !strings.HasPrefix(word, "-"):
		if word == "help" && !l.Literal && l.Command == nil && len(l.Arguments) == 0 {
			l.topic = true
			return append(slices.Clone(rest[1:]), "--help"), nil
		}
		if !l.Literal && len(l.Arguments) == 0 && l.enter(word) {
			return rest[1:], l.misplaced()
		}
		l.Arguments = append(l.Arguments, word)
		return rest[1:], nil
	case word == "--":
		l.Literal = true
		return rest[1:], nil
	}
	name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	flag, known := l.find(name, rest)
	switch {
	case !known && word == "--version" && l.Command == nil:
		l.enter("version")
		return rest[1:], nil
	case !known:
		return l.short(word, rest)
	}
	if hasValue || IsSwitch(flag) {
		l.Flags = append(l.Flags, Flag{name, value, hasValue})
		return rest[1:], nil
	}
	separate := len(rest) > 1 && slices.Contains(l.rules.SeparateValues[flag.Names()[0]], rest[1])
	if meant, optional := l.rules.OptionalValue[flag.Names()[0]]; optional && !separate {
		l.Flags = append(l.Flags, Flag{name, meant, true})
		return rest[1:], nil
	}
	if len(rest) < 2 {
		return nil, l.noValue(flag, word)
	}
	l.Flags = append(l.Flags, Flag{name, rest[1], true})
	return rest[2:], nil
}

// find looks up a flag among those of the program, of the command so far and, before its arguments, of the
// commands that follow.
func (l *Line) find(name string, rest []string) (cli.Flag, bool) {
	if f, ok := l.Known[name]; ok {
		return f, true
	}
	if len(l.Arguments) > 0 {
		return nil, false
	}
	commands := l.Commands
	for _, word := range rest[1:] {
		c := Find(commands, word)
		if c == nil {
			continue // a flag, its value or an argument: which one is known only once the command is
		}
		if f, ok := Index(c.Flags)[name]; ok {
			return f, true
		}
		commands = c.Subcommands
	}
	return nil, false
}

// short parses the short forms that kubectl users write: -nshop, -ojson and -Aq.
func (l *Line) short(word string, rest []string) ([]string, error) {
	letters := strings.TrimPrefix(word, "-")
	if strings.HasPrefix(letters, "-") || len(letters) < 2 {
		return nil, l.unknown(word)
	}
	flag, known := l.find(letters[:1], rest)
	if !known {
		return nil, l.unknown(word)
	}
	if !IsSwitch(flag) {
		l.Flags = append(l.Flags, Flag{letters[:1], letters[1:], true})
		return rest[1:], nil
	}
	l.Flags = append(l.Flags, Flag{Name: letters[:1]})
	return append([]string{"-" + letters[1:]}, rest[1:]...), nil
}

// unknown returns the error for a flag that the command does not have.
func (l *Line) unknown(word string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	path, of := strings.Join(l.Path, " "), l.above[name]
	switch why := l.rules.Lacking[path+" --"+name]; {
	case why != "":
		return Usage("unknown flag --%s: %s", name, why)
	case of != "":
		flag, _, _ := strings.Cut(word, "=")
		return Usage("unknown flag %s: it belongs to %s, and this is %s", flag, of, path)
	}
	return unknownFlag(word, l.Known)
}

// misplaced returns an error if a flag that was given before a subcommand belongs to the command above it.
func (l *Line) misplaced() error {
	for _, f := range l.Flags {
		if dashes := "--"; l.Known[f.Name] == nil && l.above[f.Name] != "" {
			return l.unknown(dashes[:min(len(f.Name), 2)] + f.Name)
		}
	}
	return nil
}

// strays returns an error if a flag was taken for that of a command that did not follow after all: its name
// was an argument.
func (l *Line) strays() error {
	for _, f := range l.Flags {
		if dashes := "--"; l.Known[f.Name] == nil {
			return l.unknown(dashes[:min(len(f.Name), 2)] + f.Name)
		}
	}
	return nil
}

// enter descends into a subcommand, and reports whether the word names one. What the command above it
// declares does not belong to it.
func (l *Line) enter(word string) bool {
	c := Find(l.Commands, word)
	if c == nil {
		return false
	}
	if l.Command != nil {
		for name := range Index(l.Command.Flags) {
			delete(l.Known, name)
			l.above[name] = strings.Join(l.Path, " ")
		}
	}
	l.Path = append(l.Path, c.Name)
	l.Command, l.Commands = c, c.Subcommands
	for name, f := range Index(c.Flags) {
		l.Known[name] = f
		delete(l.above, name)
	}
	return true
}
