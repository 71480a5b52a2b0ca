package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/keyuse"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

// watchedTables returns the tables with unknown keys, for the renderer to watch.
func watchedTables(unknown []values.UnknownKeys) []keyuse.Watched {
	var out []keyuse.Watched
	for _, s := range unknown {
		out = append(out, keyuse.Watched{Tables: s.Tables, Keys: s.Keys})
	}
	return out
}

// unusedValues warns about the user's keys that no template reads if a key with nearly the same
// name is known or read instead. Nothing below such a key is reported again.
func unusedValues(s Source, vals map[string]any, unknown []values.UnknownKeys, seen []keyuse.Seen) []chart.Warning {
	var out []chart.Warning
	told := map[string]bool{}
	for i, saw := range seen {
		for _, key := range saw.Unread {
			path := append(slices.Clip(unknown[i].Path), key)
			if below(told, path) {
				continue
			}
			meant := unknown[i].Meant(key, saw.Read)
			if meant == "" || keyuse.Mentioned(s.Chart, vals, key) {
				continue
			}
			told[strings.Join(path, "\x00")] = true
			out = append(out, unusedValue(s, path, meant))
		}
	}
	return out
}

func unusedValue(s Source, path []string, meant string) chart.Warning {
	var origin values.Origin
	if s.Origin != nil {
		origin = s.Origin(path)
	}
	if origin.Name == "" {
		origin.Name = "values of an earlier revision"
	}
	at := chart.Warning{Where: origin.Name, Line: origin.Line}
	if origin.Line > 0 {
		at.File = origin.Name
	}
	right := append(slices.Clone(path[:len(path)-1]), meant)
	at.What = fmt.Sprintf("values key %s is read by no template; did you mean %s?", values.PathText(path), values.PathText(right))
	return at
}

func below(told map[string]bool, path []string) bool {
	for n := range path {
		if told[strings.Join(path[:n], "\x00")] {
			return true
		}
	}
	return false
}

// withHints adds the keys that look misspelt to a template's error: the missing value may have been
// set under another name.
func withHints(err error, unread []chart.Warning) error {
	var at *templating.Error
	if !errors.As(err, &at) || len(unread) == 0 {
		return err
	}
	hints := make([]string, 0, len(unread)+1)
	if at.Hint != "" {
		hints = append(hints, at.Hint)
	}
	for _, w := range unread {
		hints = append(hints, w.String())
	}
	at.Hint = strings.Join(hints, "; ")
	return err
}
