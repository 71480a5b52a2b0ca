package forge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Thing 4: on each push the comment says how the effect differs from the one that somebody has
// approved: what the comment showed at that moment, by the forge's clock, whatever was pushed since.
func TestSinceTheApproval(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC) }
	text := func(effect, counts, more string) string {
		return mark + "\n<!-- effect=" + effect + " " + counts + " -->\n### Release shop/web\n" + more
	}
	for _, kind := range []string{"github", "gitea"} {
		s := serve(t)
		f, _ := s.open(t, kind)
		put := func(minute int, text string) string {
			t.Helper()
			if _, err := Put(t.Context(), f, text, CommentOptions{Head: "abc", Run: 7}); err != nil {
				t.Fatal(err)
			}
			s.comments[0].Updated = at(minute)
			return s.comments[0].Body
		}
		put(0, text("aaa", "to-change=2 to-delete=0", ""))
		put(5, text("bbb", "to-change=1 to-delete=0", ""))
		s.reviews = fmt.Sprintf(`[{"state":"APPROVED","commit_id":"4f2c1d0aaaa","submitted_at":%q,"user":{"login":"ana"}},{"state":"COMMENTED","submitted_at":%q,"user":{"login":"ben"}}]`,
			at(7).Format(time.RFC3339), at(9).Format(time.RFC3339))
		for _, c := range []struct {
			minute                     int
			effect, counts, more, want string
		}{
			{10, "ccc", "to-change=1 to-delete=1", "", "Since @ana approved `4f2c1d0`: 1 more to delete; review all of it again."},
			{11, "ccc", "to-change=1 to-delete=1", "an age that has changed\n", "Since @ana approved `4f2c1d0`: 1 more to delete; review all of it again."},
			{12, "ddd", "to-change=1 to-delete=0", "", "Since @ana approved `4f2c1d0`: the effect is different, with the same counts."},
			{13, "bbb", "to-change=1 to-delete=0", "", "The same effect as when @ana approved `4f2c1d0` (values of secrets count only with `--effect-key-file`)."},
		} {
			if got := put(c.minute, text(c.effect, c.counts, c.more)); !strings.Contains(got, c.want) || strings.Count(got, "approved") != 1 {
				t.Errorf("%s at %d: want %q in\n%s", kind, c.minute, c.want, got)
			}
		}
		before := s.count("PATCH")
		put(14, text("bbb", "to-change=1 to-delete=0", ""))
		if s.count("PATCH") != before {
			t.Errorf("%s: the same is sent again", kind)
		}
	}
}

// An approval holds until its author requests changes, or it is dismissed; that of somebody else holds
// all the same. A comment changes nothing.
func TestSinceAnApprovalThatHolds(t *testing.T) {
	const ana, ben = `{"state":%q,"commit_id":"4f2c1d0aaaa","submitted_at":"2026-11-20T10:%02d:00Z","user":{"login":"ana"}%s}`, `{"state":%q,"commit_id":"be11111aaaa","submitted_at":"2026-11-20T10:%02d:00Z","user":{"login":"ben"}%s}`
	type said struct {
		by, state string
		minute    int
		more      string
	}
	text := mark + "\n<!-- effect=aaa to-change=1 -->\n### Release shop/web\n"
	for name, tc := range map[string]struct {
		reviews []said
		want    string
	}{
		"approved":               {[]said{{ana, "APPROVED", 10, ""}}, "@ana"},
		"then changes requested": {[]said{{ana, "APPROVED", 10, ""}, {ana, "CHANGES_REQUESTED", 11, ""}}, ""},
		"the same on Gitea":      {[]said{{ana, "APPROVED", 10, ""}, {ana, "REQUEST_CHANGES", 11, ""}}, ""},
		"dismissed":              {[]said{{ana, "DISMISSED", 10, ""}}, ""},
		"dismissed on Gitea":     {[]said{{ana, "APPROVED", 10, `,"dismissed":true`}}, ""},
		"the second dismissed":   {[]said{{ana, "APPROVED", 10, ""}, {ana, "DISMISSED", 12, ""}}, ""},
		"then approved again":    {[]said{{ana, "CHANGES_REQUESTED", 9, ""}, {ana, "APPROVED", 10, ""}}, "@ana"},
		"then a comment":         {[]said{{ana, "APPROVED", 10, ""}, {ana, "COMMENTED", 11, ""}, {ana, "COMMENT", 12, ""}}, "@ana"},
		"somebody else's":        {[]said{{ben, "APPROVED", 8, ""}, {ana, "APPROVED", 10, ""}, {ana, "CHANGES_REQUESTED", 11, ""}}, "@ben"},
	} {
		for _, kind := range []string{"github", "gitea"} {
			s := serve(t)
			var reviews []string
			for _, r := range tc.reviews {
				reviews = append(reviews, fmt.Sprintf(r.by, r.state, r.minute, r.more))
			}
			s.reviews = "[" + strings.Join(reviews, ",") + "]"
			s.comments = []Comment{{Author: "planner", Body: of(3, text), Updated: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}}
			f, _ := s.open(t, kind)
			if _, err := Put(t.Context(), f, text+"more\n", CommentOptions{Head: "abc", Run: 7}); err != nil {
				t.Fatal(err)
			}
			body := s.comments[0].Body
			if says := strings.Contains(body, "approved"); says != (tc.want != "") || !strings.Contains(body, tc.want) {
				t.Errorf("%s on %s: want %q in\n%s", name, kind, tc.want, body)
			}
		}
	}
}

// What can't be known is not said: nobody has approved, reviews can't be read, the approval is older
// than the comment, or somebody's name could be markup.
func TestSinceNothingThatIsKnown(t *testing.T) {
	text := mark + "\n<!-- effect=bbb to-change=1 -->\n### Release shop/web\n"
	for why, reviews := range map[string]string{
		"none": `[]`, "not allowed": "", "early": `[{"state":"APPROVED","commit_id":"4f","submitted_at":"2020-01-01T00:00:00Z","user":{"login":"ana"}}]`,
		"markup": `[{"state":"APPROVED","commit_id":"4f","submitted_at":"2030-01-01T00:00:00Z","user":{"login":"a](http://x)"}}]`,
	} {
		s := serve(t)
		s.reviews = reviews
		s.comments = []Comment{{Author: "planner", Body: of(3, strings.Replace(text, "bbb", "aaa", 1)), Updated: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}}
		f, _ := s.open(t, "github")
		out, err := Put(t.Context(), f, text, CommentOptions{Head: "abc", Run: 7})
		if err != nil || out.Done != Edited || strings.Contains(s.comments[0].Body, "approved") {
			t.Errorf("%s: %+v %v\n%s", why, out, err, s.comments[0].Body)
		}
	}
}

// Only the lines that Put and report.Markdown write above a plan say what a comment has shown: a plan
// quotes charts and clusters, and a text that is not trusted says what its author likes.
func TestSinceSaysNothingThatATextForges(t *testing.T) {
	const forged = "```\n<!-- effect=bbb to-change=1 -->\n<!-- seen=bbb at=2026-11-20T10:00:00Z to-change=1 -->\n```\n"
	for name, tc := range map[string]struct {
		was, text string
		shown     int // the minute
		options   CommentOptions
	}{
		"quoted by the comment": {mark + "\n<!-- effect=aaa to-change=2 -->\n" + forged, mark + "\n<!-- effect=bbb to-change=1 -->\n", 10, CommentOptions{}},
		"quoted by the text":    {mark + "\n<!-- effect=bbb to-change=1 -->\n", mark + "\n### Release shop/web: can't be planned\n" + forged, 0, CommentOptions{}},
		"not trusted": {
			"<!-- untrusted: kubectl-release plan of shop/web -->\n<!-- effect=bbb to-change=1 -->\n",
			mark + "\n<!-- effect=bbb to-change=1 -->\n<!-- seen=bbb at=2026-11-20T10:00:00Z to-change=1 -->\nmore\n", 0,
			CommentOptions{Untrusted: true},
		},
	} {
		s := serve(t)
		s.reviews = `[{"state":"APPROVED","commit_id":"4f2c1d0aaaa","submitted_at":"2026-11-20T10:07:00Z","user":{"login":"ana"}}]`
		s.comments = []Comment{{Author: "planner", Body: of(3, tc.was), Updated: time.Date(2026, 11, 20, 10, tc.shown, 0, 0, time.UTC)}}
		f, _ := s.open(t, "github")
		tc.options.Head, tc.options.Run = "abc", 7
		if out, err := Put(t.Context(), f, tc.text, tc.options); err != nil || out.Done != Edited || strings.Contains(s.comments[0].Body, "The same effect") {
			t.Errorf("%s: %+v %v\n%s", name, out, err, s.comments[0].Body)
		}
	}
}

// What is not trusted is below the warning, whatever it begins with, and never in the comment of a text
// that is trusted.
func TestUntrusted(t *testing.T) {
	for _, kind := range Kinds() {
		s := serve(t)
		f, _ := s.open(t, kind)
		text := body + "<details><summary>plan</summary>\n"
		for _, untrusted := range []bool{false, true, true} {
			if _, err := Put(t.Context(), f, text, CommentOptions{Head: "abc", Run: 7, Untrusted: untrusted}); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.comments) != 2 || strings.Contains(s.comments[0].Body, "CAUTION") {
			t.Fatalf("%s: %+v", kind, s.comments)
		}
		before, after, ok := strings.Cut(s.comments[1].Body, "This text is from a job of the fork")
		if lines := strings.Count(before, "\n"); !ok || strings.Contains(before, "plan</summary>") || lines > 6 || !strings.Contains(after, "### Release shop/web") {
			t.Errorf("%s: %s", kind, s.comments[1].Body)
		}
	}
}

// A first line that could begin anything but a comment is no marker.
func TestMarkersWithMarkup(t *testing.T) {
	for _, line := range []string{
		"<!-- x --><details><summary>plan</summary><!-- y -->", "<!-- x -->\r<details>\r<!-- y -->", "<!-- x --!><details><!-- y -->", "<!--  -->", "<!-- > -->",
	} {
		s := serve(t)
		f, _ := s.open(t, "github")
		if _, err := Put(t.Context(), f, line+"\n### Release shop/web\n", CommentOptions{Untrusted: true}); !errors.Is(err, ErrNoMarker) || len(s.comments) > 0 {
			t.Errorf("%q: %v %+v", line, err, s.comments)
		}
	}
}
