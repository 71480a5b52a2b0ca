package report

import (
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
// notification. Where there is no room for what they are asked about, they are mentioned all the same.
func (m *markdown) reviews(reviews []asked) {
	rest, whole := "", m.budget
	for i, a := range reviews {
		const shown = 6
		m.budget = whole - mentionsRoom(reviews[i+1:])
		if !m.item(a.line(list(a.about, shown))) {
			m.item(a.mention())
			rest += a.line(list(a.about, 0))
		}
	}
	m.budget = whole
	if rest != "" {
		m.omit("what to review", rest)
	}
}

func (a asked) line(about string) string {
	return "- 👀 " + a.by + ", please review: " + inline(about) + "\n"
}

// mention is the shortest line that asks somebody.
func (a asked) mention() string { return a.line(Count(len(a.about), "step", "steps")) }

// mentionsRoom is the room that the shortest lines take.
func mentionsRoom(reviews []asked) int {
	room := 0
	for _, a := range reviews {
		room += len("\n") + len(a.mention())
	}
	return room
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
