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

// Limits on the search for misspelt keys: values may have been written for another chart.
const (
	// maxCompared limits how many known and read keys are compared with unread ones, in all. Charts
	// know up to a few hundred in a table.
	maxCompared = 200_000
	// maxMisspelt limits the names of unread keys that are searched for in the chart's text, and the warnings:
	// each of these looks for its line in a file of values.
	maxMisspelt = 50
)

// watchedTables returns the tables with unknown keys, for the renderer to watch.
func watchedTables(unknown []values.UnknownKeys) []keyuse.Watched {
	var out []keyuse.Watched
	for _, s := range unknown {
		w := keyuse.Watched{Tables: s.Tables}
		for _, key := range s.Keys {
			w.Keys = append(w.Keys, key.Name)
		}
		out = append(out, w)
	}
	return out
}

// misspelt is a key that no template reads, and the one that was probably meant.
type misspelt struct {
	key   values.UnknownKey
	meant string
}

// unusedValues warns about the user's keys that no template reads if a key with nearly the same
// name is known or read instead. Nothing below such a key is reported again.
func unusedValues(s Source, vals map[string]any, unknown []values.UnknownKeys, seen []keyuse.Seen) []chart.Warning {
	found := misspeltKeys(s, vals, unknown, seen)
	if len(found) == 0 {
		return nil
	}
	paths := make([][]string, len(found))
	for i, m := range found {
		paths[i] = m.key.Path()
	}
	origins := make([]values.Origin, len(found))
	if s.Origins != nil {
		origins = s.Origins(paths)
	}
	out := make([]chart.Warning, len(found))
	for i, m := range found {
		out[i] = unusedValue(m, paths[i], origins[i])
	}
	return out
}

func misspeltKeys(s Source, vals map[string]any, unknown []values.UnknownKeys, seen []keyuse.Seen) []misspelt {
	var out []misspelt
	told, mentioned, compared := map[*values.Branch]bool{}, map[string]bool{}, 0
	for i, saw := range seen {
		for _, key := range unknown[i].Keys {
			if _, unread := slices.BinarySearch(saw.Unread, key.Name); !unread || below(told, key.Branch) {
				continue
			}
			if compared += len(unknown[i].Known) + len(saw.Read); compared > maxCompared {
				return out
			}
			meant := unknown[i].Meant(key.Name, saw.Read)
			if meant == "" {
				continue
			}
			named, known := mentioned[key.Name]
			if !known {
				if len(mentioned) == maxMisspelt {
					return out
				}
				named = keyuse.Mentioned(s.Chart, vals, key.Name)
				mentioned[key.Name] = named
			}
			if !named {
				told[key.Branch] = true
				if out = append(out, misspelt{key, meant}); len(out) == maxMisspelt {
					return out
				}
			}
		}
	}
	return out
}

func unusedValue(m misspelt, path []string, origin values.Origin) chart.Warning {
	if origin.Name == "" {
		origin.Name = "values of an earlier revision"
	}
	at := chart.Warning{Where: origin.Name, Line: origin.Line}
	if origin.Line > 0 {
		at.File = origin.Name
	}
	right := append(slices.Clone(path[:len(path)-1]), m.meant)
	at.What = fmt.Sprintf("values key %s is read by no template; did you mean %s?", values.PathText(path), values.PathText(right))
	switch m.key.More {
	case 0:
	case 1:
		at.What += " It is in 1 more place"
	default:
		at.What += fmt.Sprintf(" It is in %d more places", m.key.More)
	}
	return at
}

// below reports whether a key is below one that has been told.
func below(told map[*values.Branch]bool, key *values.Branch) bool {
	for above := key.Above; above != nil && len(told) > 0; above = above.Above {
		if told[above] {
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
