package report

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// asked is a user or team that is asked for a review, and about what.
type asked struct {
	by    string
	about []string
}

// reviewsOf returns the requested reviews of a plan: "Deployment/web takes back spec.replicas, set
// by kubectl-edit 3h ago".
func reviewsOf(p *plan.Document, names namer) []asked {
	var out []asked
	for _, r := range p.Reviews {
		a := asked{by: escape.Line(r.By)}
		for _, s := range r.Asked {
			text := names.name(s.Object)
			if s.Why != "" {
				text += ": " + escape.Message(s.Why)
			}
			a.about = append(a.about, text)
		}
		out = append(out, a)
	}
	return out
}

// reviewsNote returns the requested reviews as a note.
func reviewsNote(reviews []asked) []note {
	if len(reviews) == 0 {
		return nil
	}
	n := note{label: "review", lines: true}
	for _, a := range reviews {
		const shown = 3
		n.items = append(n.items, a.by+": "+list(a.about, shown))
	}
	return []note{n}
}

// reviews asks for reviews: by is a user or team of the policy, and mentioning it sends a
// notification.
func (m *markdown) reviews(reviews []asked) {
	for _, a := range reviews {
		const shown = 6
		m.item("- 👀 " + a.by + ", please review: " + strings.ReplaceAll(inline(list(a.about, shown)), "\n", " ") + "\n")
	}
}

// setReviews returns the requested reviews of a set's plans, one for each user or team.
func setReviews(rows []setRow) []asked {
	var out []asked
	at := map[string]int{}
	for _, r := range rows {
		if r.Plan == nil {
			continue
		}
		for _, a := range reviewsOf(r.Plan, newNamer(r.Plan)) {
			i, known := at[a.by]
			if !known {
				i = len(out)
				at[a.by], out = i, append(out, asked{by: a.by})
			}
			for _, what := range a.about {
				out[i].about = append(out[i].about, r.name+" "+what)
			}
		}
	}
	return out
}
