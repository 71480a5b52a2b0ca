package apply

import (
	"fmt"
	"slices"
	"strings"
)

// Reason is one cause that keeps objects from becoming ready.
type Reason struct {
	// Of names the objects that it holds up: "Pod/web-1".
	Of []string
	// Cause is the state of a container, or a condition or warning event of the object.
	Cause string
	// Restarts is how often the container was restarted: the maximum over all of Of.
	Restarts int
	// Trouble is false for a normal stage on the way to ready, such as
	// ContainerCreating.
	Trouble bool
}

// String returns "Pod/web-1: CAUSE", or "3 pods: CAUSE".
func (r Reason) String() string {
	text, upTo := strings.Join(r.Of, ", "), ""
	if n := len(r.Of); n > 1 {
		text, upTo = fmt.Sprintf("%d objects", n), "up to "
		if !slices.ContainsFunc(r.Of, func(name string) bool { return !strings.HasPrefix(name, "Pod/") }) {
			text = fmt.Sprintf("%d pods", n)
		}
	}
	if text != "" {
		text += ": "
	}
	text += r.Cause
	switch {
	case r.Restarts == 1:
		text += " after a restart"
	case r.Restarts > 1:
		text += fmt.Sprintf(" after %s%d restarts", upTo, r.Restarts)
	}
	return text
}

// SameCauses reports whether two lists of reasons have the same causes, in the same order.
func SameCauses(a, b []Reason) bool {
	return slices.EqualFunc(a, b, func(a, b Reason) bool { return a.Cause == b.Cause })
}

// Grouped merges reasons that have the same cause, in the order in which the causes
// first appear.
func Grouped(reasons []Reason) []Reason {
	var out []Reason
	for _, r := range reasons {
		i := slices.IndexFunc(out, func(known Reason) bool { return known.Cause == r.Cause })
		if i < 0 {
			r.Of = slices.Clone(r.Of)
			out = append(out, r)
			continue
		}
		for _, name := range r.Of {
			if !slices.Contains(out[i].Of, name) {
				out[i].Of = append(out[i].Of, name)
			}
		}
		out[i].Restarts, out[i].Trouble = max(out[i].Restarts, r.Restarts), out[i].Trouble || r.Trouble
	}
	return out
}
