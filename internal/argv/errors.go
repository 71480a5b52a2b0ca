package argv

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// UsageError is a mistake on the command line.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// Usage returns a UsageError.
func Usage(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// NoValueError reports that the last word is a flag whose value is missing.
type NoValueError struct {
	Flag cli.Flag
	text string
}

func (e *NoValueError) Error() string { return e.text }

// noValue returns the error for a flag, as it was typed, at the end of a line.
func (l *Line) noValue(flag cli.Flag, word string) error {
	text := fmt.Sprintf("flag %s needs a value", word)
	if why := l.rules.NoCommand[word]; why != "" && len(l.Path) == 0 {
		text += ": " + why
	}
	return &NoValueError{flag, text}
}

// unknownFlag returns the error for a flag that is not among the known ones, with a suggestion.
func unknownFlag(word string, known map[string]cli.Flag) error {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	names := make([]string, 0, len(known))
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	if best := spelling.Word(name, names); best != "" {
		return Usage("unknown flag %s: did you mean --%s?", word, best)
	}
	return Usage("unknown flag %s", word)
}

// BadValue rewords the flag parser's errors.
func BadValue(c *cli.Context, err error, _ bool) error {
	var value, flag string
	if _, scanErr := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &flag); scanErr != nil {
		if _, scanErr = fmt.Sscanf(err.Error(), "invalid boolean value %q for -%s", &value, &flag); scanErr != nil {
			return Usage("%v", err)
		}
	}
	flag = strings.TrimSuffix(flag, ":")
	if strings.HasSuffix(err.Error(), ": value out of range") { // Go 1.26, flag/flag.go, errRange
		return Usage("invalid value %q for flag %s: it is out of range", value, dashed(flag))
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil && isDuration(c, flag) {
		return Usage("invalid value %q for flag %s: the unit is missing, as in %ss", value, dashed(flag), value)
	}
	return Usage("invalid value %q for flag %s: must be %s", value, dashed(flag), wanted(c, flag))
}

func isDuration(c *cli.Context, name string) bool {
	_, is := Index(c.Command.Flags)[name].(*cli.DurationFlag)
	return is
}

// wanted says what the value of a flag has to be.
func wanted(c *cli.Context, name string) string {
	switch Index(c.Command.Flags)[name].(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "a duration, such as 5m"
	case *cli.IntFlag:
		return "a whole number"
	default:
		return "a number"
	}
}

// dashed returns a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
