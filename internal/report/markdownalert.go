package report

import "strings"

// alert prints one of GitHub's alerts, which other forges show as a block quote
// (https://docs.github.com/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#alerts).
func (m *markdown) alert(kind, title string, notices []notice) {
	if len(notices) == 0 {
		return
	}
	head := "> [!" + kind + "]\n"
	if !strings.HasSuffix(m.String(), "\n\n") {
		head = "\n" + head
	}
	if title != "" {
		head += "> " + title + "\n"
	}
	shown := 0
	if m.add(head) {
		for shown < len(notices) && m.add(noticeLine(notices[shown])) {
			shown++
		}
	}
	if left := notices[shown:]; len(left) > 0 {
		m.omit(Count(len(left), "more notice", "more notices"), "")
		for _, n := range left {
			m.rest.WriteString(noticeLine(n))
		}
	}
}

func noticeLine(n notice) string {
	text := inline(n.text)
	if n.name != "" {
		text = "**" + inline(n.name) + "**: " + text
	}
	if n.do != "" {
		text += " → " + inline(n.do)
	}
	return "> - " + text + "\n"
}
