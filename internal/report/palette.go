package report

import "github.com/kubectl-release/kubectl-release/plan"

// style is the meaning of a text; its value is an ANSI escape sequence.
type style string

const (
	plain   style = ""
	strong  style = "\x1b[1m"
	faint   style = "\x1b[2m"
	bad     style = "\x1b[31m"
	fresh   style = "\x1b[32m"
	changed style = "\x1b[33m"
	hooked  style = "\x1b[36m"
)

type palette struct{ on bool }

func (p palette) paint(as style, s string) string {
	if !p.on || as == plain || s == "" {
		return s
	}
	return string(as) + s + "\x1b[0m"
}

func styleOf(op plan.Op) style {
	switch op {
	case plan.OpCreate:
		return fresh
	case plan.OpPatch, plan.OpReplace, plan.OpAdopt:
		return changed
	case plan.OpRecreate, plan.OpDelete:
		return bad
	case plan.OpRun:
		return hooked
	case plan.OpKeep, plan.OpWait, plan.OpRecord, plan.OpNone:
		return plain
	}
	return plain
}
