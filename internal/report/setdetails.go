package report

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// setDetail is what the row with that id unfolds to. cut reports whether a part of it, or all, did
// not fit.
type setDetail struct {
	id   int
	text string
	cut  bool
}

// leastDetail is the space below which a release's details are not worth reading.
const leastDetail = 1500

// setDetails returns the details of a set's rows in at most room bytes.
func setDetails(rows []setRow, room int) ([]setDetail, error) {
	shortView, wholeView := commentViews()
	var pages [][2]*page
	var changing []setRow
	var wholes []setDetail
	var needs []int
	for _, r := range rows {
		if r.Plan == nil || !r.Blocked() && r.Plan.Effect() == plan.EffectNone {
			continue // its row says everything
		}
		short, err := newPage(r.Plan, shortView)
		if err != nil {
			return nil, err
		}
		whole, err := newPage(r.Plan, wholeView)
		if err != nil {
			return nil, err
		}
		const unlimited = 64 << 20
		all := detailText(r, short, whole, unlimited)
		changing, pages = append(changing, r), append(pages, [2]*page{short, whole})
		wholes, needs = append(wholes, all), append(needs, len(all.text))
	}
	out := make([]setDetail, len(pages))
	for i, share := range shares(needs, room) {
		switch {
		case share == 0:
			out[i] = setDetail{id: changing[i].id, cut: true}
		case share >= needs[i]:
			out[i] = wholes[i]
		default:
			out[i] = detailText(changing[i], pages[i][0], pages[i][1], share)
		}
	}
	return out, nil
}

func detailText(r setRow, short, whole *page, budget int) setDetail {
	before, after := "\n<details><summary><code>"+inHTML(r.name)+"</code>"+r.others()+" · "+blockedMark(r)+inHTML(short.verdict)+"</summary>\n\n", "\n</details>\n"
	m := markdown{budget: budget - len(before) - len(after), plain: true}
	m.opening(short)
	if !short.quiet() {
		m.details(short, whole)
	}
	cut := len(m.omitted) > 0 || m.rest.Len() > 0
	m.end()
	return setDetail{r.id, before + strings.TrimLeft(m.String(), "\n") + after, cut}
}

// blockedMark begins the summary of a release whose plan is blocked.
func blockedMark(r setRow) string {
	if r.Blocked() {
		return "❌ blocked · "
	}
	return ""
}

// shares divides the room: each need gets what it asks for or a fair share, and what one does not
// use is shared among the others. If shares would be too small to be useful, the last needs get
// nothing.
func shares(needs []int, room int) []int {
	out := make([]int, len(needs))
	n := len(needs)
	for ; n > 0; n-- {
		least := 0
		for _, need := range needs[:n] {
			least += min(need, leastDetail)
		}
		if least <= room {
			break
		}
	}
	open := n
	for open > 0 {
		fair, settled := room/open, false
		for i, need := range needs[:n] {
			if out[i] == 0 && need <= fair {
				out[i], settled = need, true
				room -= need
				open--
			}
		}
		if settled {
			continue
		}
		for i := range needs[:n] {
			if out[i] == 0 {
				out[i] = fair
			}
		}
		break
	}
	return out
}
