package forge

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Approval says who approved which commit, and when.
type Approval struct {
	By, Commit string
	At         time.Time
}

// reviewed is a forge that knows when somebody approved, and when a comment was written.
type reviewed interface {
	// approval returns the latest one of the pull request that still holds; By is "" if there is none.
	approval(ctx context.Context) (Approval, error)
}

// effectLine matches the hidden line in which Markdown names the effect of its plan: see report.Markdown.
var effectLine = regexp.MustCompile(`(?m)^<!-- effect=(\S+) (.*) -->\r?$`)

// seenLine matches a hidden line with an effect that a comment has shown before, since when, and its counts.
var seenLine = regexp.MustCompile(`(?m)^<!-- seen=(\S+) at=(\S+) (.*) -->\r?$`)

// seen is an effect that reviewers have been able to see since a certain moment.
type seen struct {
	effect, counts string
	at             time.Time
}

func (s seen) String() string {
	return fmt.Sprintf("<!-- seen=%s at=%s %s -->\n", s.effect, s.at.UTC().Format(time.RFC3339), s.counts)
}

// hidden splits a text after the HTML comments that it begins with, one a line. Only these are Put's
// and report.Markdown's: what follows quotes charts and clusters, or is not trusted at all.
func hidden(text string) (lines, rest string) {
	for rest = text; strings.HasPrefix(rest, "<!-- "); {
		line, more, _ := strings.Cut(rest, "\n")
		if !strings.HasSuffix(strings.TrimSuffix(line, "\r"), " -->") {
			break
		}
		rest = more
	}
	return strings.TrimSuffix(text, rest), rest
}

// effectOf returns the effect that hidden lines name, and its counts.
func effectOf(lines string) (effect, counts string) {
	m := effectLine.FindStringSubmatch(lines)
	if m == nil {
		return "", ""
	}
	return m[1], m[2]
}

// before is what a comment has shown, and what that means for whoever approved.
type before struct {
	// kept are the effects that the comment remembers, oldest first; now is the one that it
	// shows, nil when that is the last of kept. Times are the forge's.
	kept []seen
	now  *seen
	// same reports whether the new text has the effect that the comment shows; approved is the
	// paragraph that compares it with what was approved.
	same     bool
	approved string
}

// most is how many effects a comment remembers.
const most = 20

// shownBefore returns what the existing comment, was, has shown before the text replaces it. What
// the forge does not know, or fails to answer, is missing.
func shownBefore(ctx context.Context, f Forge, text string, was Comment) before {
	asks, ok := f.(reviewed)
	lines, _ := hidden(text)
	effect, counts := effectOf(lines)
	if !ok || effect == "" {
		return before{}
	}
	var b before
	lines, _ = hidden(was.Body)
	for _, m := range seenLine.FindAllStringSubmatch(lines, -1) {
		if at, err := time.Parse(time.RFC3339, m[2]); err == nil {
			b.kept = append(b.kept, seen{effect: m[1], counts: m[3], at: at})
		}
	}
	shown, shownCounts := effectOf(lines)
	if n := len(b.kept); shown != "" && !was.Updated.IsZero() && (n == 0 || b.kept[n-1].effect != shown) {
		b.now = &seen{effect: shown, counts: shownCounts, at: was.Updated}
	}
	b.same = shown == effect
	if given, err := asks.approval(ctx); err == nil && given.By != "" {
		b.approved = compared(given, b.all(), seen{effect: effect, counts: counts})
	}
	return b
}

func (b before) all() []seen {
	if b.now == nil {
		return b.kept
	}
	return append(slices.Clone(b.kept), *b.now)
}

// with returns the text with the effects that the comment remembers, which are hidden, and the
// comparison. If the comment is edited, it has to remember since when it has shown what it shows now.
func (b before) with(text string, edited bool) string {
	remembered := b.kept
	if !b.same || edited {
		remembered = b.all()
	}
	var out strings.Builder
	for _, s := range remembered[max(0, len(remembered)-most):] {
		out.WriteString(s.String())
	}
	lines, rest := hidden(text)
	return out.String() + lines + b.approved + rest
}

var login = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_.]*$`)

// compared returns how the effect now differs from the one shown when somebody approved, "" when
// that is not known.
func compared(given Approval, all []seen, now seen) string {
	at := slices.IndexFunc(all, func(s seen) bool { return s.at.After(given.At) })
	if at < 0 {
		at = len(all)
	}
	if at == 0 || !login.MatchString(given.By) {
		return ""
	}
	approved := all[at-1]
	const short = 7
	who := fmt.Sprintf("@%s approved `%s`", given.By, given.Commit[:min(short, len(given.Commit))])
	if approved.effect == now.effect {
		return "\n✅ The same effect as when " + who + " (values of secrets count only with `--effect-key-file`).\n\n"
	}
	return "\n⚠️ **Since " + who + ": " + difference(approved.counts, now.counts) + ".**\n\n"
}

// difference returns how counts differ, such as "1 more to delete, 2 fewer to change".
func difference(was, is string) string {
	before := map[string]int{}
	each(was, func(name string, n int) { before[name] = n })
	var out []string
	each(is, func(name string, n int) {
		name = strings.ReplaceAll(name, "-", " ")
		switch more := n - before[strings.ReplaceAll(name, " ", "-")]; {
		case more > 0:
			out = append(out, fmt.Sprintf("%d more %s", more, name))
		case more < 0:
			out = append(out, fmt.Sprintf("%d fewer %s", -more, name))
		}
	})
	if len(out) == 0 {
		return "the effect is different, with the same counts"
	}
	return strings.Join(out, ", ") + "; review all of it again"
}

// each calls visit for each of "to-delete=1 to-change=2".
func each(counts string, visit func(name string, n int)) {
	for _, field := range strings.Fields(counts) {
		name, text, _ := strings.Cut(field, "=")
		if n, err := strconv.Atoi(text); err == nil {
			visit(name, n)
		}
	}
}

// review is one on GitHub or Gitea, which has another word for a request of changes, and dismissed as a field
// (go-gitea/gitea, modules/structs/pull_review.go, PullReview).
type review struct {
	State     string    `json:"state"`
	Dismissed bool      `json:"dismissed"`
	Commit    string    `json:"commit_id"`
	At        time.Time `json:"submitted_at"`
	User      struct {
		Login string `json:"login"`
	} `json:"user"`
}

func (g *github) approval(ctx context.Context) (Approval, error) {
	found, err := pages[review](ctx, g.client, g.path("/pulls/"+g.number+"/reviews?per_page=100"))
	return latest(found), err
}

// latest returns the latest approval that still holds (https://docs.github.com/rest/pulls/reviews): of each
// user's reviews, the last that approves, requests changes or was dismissed counts.
func latest(found []review) Approval {
	slices.SortStableFunc(found, func(a, b review) int { return a.At.Compare(b.At) })
	decided := map[string]bool{}
	for _, r := range slices.Backward(found) {
		decides := slices.Contains([]string{"APPROVED", "CHANGES_REQUESTED", "REQUEST_CHANGES", "DISMISSED"}, r.State)
		if !decides || r.User.Login == "" || decided[r.User.Login] {
			continue
		}
		decided[r.User.Login] = true
		if r.State == "APPROVED" && !r.Dismissed {
			return Approval{By: r.User.Login, Commit: r.Commit, At: r.At}
		}
	}
	return Approval{}
}
