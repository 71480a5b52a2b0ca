package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// repeated is a change and the number of equal changes in the same object that it stands for.
type repeated struct {
	plan.Change
	like int
}

// foldAlike keeps only one of the equal changes that an object has in minFold places or more, such
// as in every panel of a dashboard. Drift is never folded, and with full nothing is.
func foldAlike(changes []plan.Change, full bool) []repeated {
	shapes := map[string]int{}
	for _, c := range changes {
		shapes[shape(c.Path)]++
	}
	groups := map[string][]int{}
	keys := make([]string, len(changes))
	for i, c := range changes {
		if !full && shapes[shape(c.Path)] >= minFold && c.Cause != plan.CauseDrift {
			keys[i] = alikeKey(c)
			groups[keys[i]] = append(groups[keys[i]], i)
		}
	}
	var out []repeated
	for i, c := range changes {
		switch same := groups[keys[i]]; {
		case keys[i] == "" || len(same) < minFold:
			out = append(out, repeated{Change: c})
		case same[0] == i:
			out = append(out, repeated{c, len(same) - 1})
		}
	}
	return out
}

// alikeKey is equal for changes that are folded into one.
func alikeKey(c plan.Change) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%t", shape(c.Path), value(c.From), value(c.To), cause(c), c.Sensitive)
}

var brackets = regexp.MustCompile(`\[[^\]]*\]`)

// shape returns a path without keys and indexes in its middle; a part nested in an equal part
// counts once.
func shape(path string) string {
	way, last := path, ""
	if i := strings.LastIndexByte(path, '['); i >= 0 && strings.HasSuffix(path, "]") {
		way, last = path[:i], path[i:]
	}
	parts := strings.Split(brackets.ReplaceAllString(way, "[…]"), " ")
	for i, part := range parts {
		parts[i] = strings.Join(slices.Compact(strings.Split(part, ".")), ".")
	}
	return strings.Join(parts, " ") + last
}

// joinAlike joins objects of one kind that change in the same way, if there are minFold of them or
// more: "27 ConfigMaps".
func (w entryWriter) joinAlike(entries []entry) []entry {
	if w.view.full || len(w.view.only) > 0 {
		return entries
	}
	groups := map[string][]int{}
	keys := make([]string, len(entries))
	for i, e := range entries {
		if w.view.joins > 0 && len(e.rows) > w.view.joins {
			continue
		}
		if keys[i] = entryKey(e); keys[i] != "" {
			groups[keys[i]] = append(groups[keys[i]], i)
		}
	}
	var out []entry
	for i, e := range entries {
		same := groups[keys[i]]
		switch {
		case keys[i] == "" || len(same) < minFold:
			out = append(out, e)
		case same[0] == i:
			out = append(out, w.joined(entries, same))
		}
	}
	return out
}

// entryKey is equal for entries that are joined, "" for an entry that is never joined.
func entryKey(e entry) string {
	if e.op != plan.OpPatch || e.detail != "" || len(e.rows) == 0 || e.hiddenRows > 0 {
		return ""
	}
	var keys []string
	for _, r := range e.rows {
		if r.change.Cause == plan.CauseDrift || r.change.Sensitive {
			return ""
		}
		keys = append(keys, alikeKey(r.change))
	}
	slices.Sort(keys)
	return e.kind + "\x00" + strings.Join(slices.Compact(keys), "\x00")
}

// joined returns one entry that stands for several equal ones.
func (w entryWriter) joined(entries []entry, same []int) entry {
	out := entries[same[0]]
	names := make([]string, 0, len(same))
	for _, i := range same {
		names = append(names, strings.TrimPrefix(entries[i].name, out.kind+"/"))
	}
	out.objects = len(same)
	out.name = CountOfKind(len(same), out.kind)
	out.detail = list(names, w.namesOfMany())
	places := map[string]int{}
	for _, i := range same {
		for _, r := range entries[i].rows {
			places[alikeKey(r.change)] += 1 + r.like
		}
	}
	out.rows = slices.Clone(out.rows)
	for k, r := range out.rows {
		out.rows[k].path, out.rows[k].like = escape.Line(shape(r.change.Path)), places[alikeKey(r.change)]-1
	}
	return out
}

// CountOfKind returns the number of objects of a kind: "1 Secret", "2 ConfigMaps".
func CountOfKind(n int, kind string) string {
	return Count(n, escape.Line(kind), plural(escape.Line(kind)))
}

// plural returns the plural of a kind: "NetworkPolicies", "Ingresses".
func plural(kind string) string {
	switch {
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	case strings.HasSuffix(kind, "cy"), strings.HasSuffix(kind, "ry"), strings.HasSuffix(kind, "ty"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
