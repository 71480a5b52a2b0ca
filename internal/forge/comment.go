package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// CommentOptions say how a comment is kept up to date.
type CommentOptions struct {
	// OnlyUpdate creates no comment where there is none yet.
	OnlyUpdate bool
	// Untrusted is a text that others may have written. The comment says so first, and is never one
	// that a trusted text has made.
	Untrusted bool
	// Head is the planned commit, Run the number of the CI run, 0 if unknown; an older run does
	// not overwrite what a newer one has written.
	Head string
	Run  int
}

// Outcome is what happened to a comment.
type Outcome struct {
	Done Done
	// URL is the comment's, "" if there is none.
	URL string
	// Why says why nothing was sent.
	Why string
}

// Done is what was done.
type Done string

const (
	Created   Done = "created"
	Edited    Done = "edited"
	Unchanged Done = "unchanged"
	// Skipped: there was nothing to do, or a newer run has done it.
	Skipped Done = "skipped"
	// Forbidden: the token may not comment.
	Forbidden Done = "forbidden"
)

// markerLine matches the first line of a text. Nothing in it ends the HTML comment, or begins markup.
var markerLine = regexp.MustCompile(`^<!-- ([^<>[:cntrl:]]+) -->$`)

// caution begins what an untrusted text's comment shows, so that nothing in the text can hide it.
const caution = "> [!CAUTION]\n> This text is from a job of the fork, which can write anything here: review the files.\n\n"

// ErrNoMarker is returned for a text that "plan -o markdown" has not printed.
var ErrNoMarker = errors.New("it does not begin with the marker that -o markdown prints, which identifies the comment")

// Put creates the comment of a plan, or brings it up to date. The text begins with its marker: a
// comment is the plan's own when its first line is the marker and the token's user has written
// it. Of several the newest is edited and the others are hidden. An unchanged text is not sent
// again, so nobody is notified. On GitHub and Gitea the comment first says what has changed since
// somebody approved.
//
// A text without a marker is ErrNoMarker; a token that may not comment is no error, but Forbidden.
func Put(ctx context.Context, f Forge, text string, o CommentOptions) (Outcome, error) {
	marker, rest, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	m := markerLine.FindStringSubmatch(marker)
	if m == nil {
		return Outcome{}, ErrNoMarker
	}
	if o.Untrusted {
		marker, rest = "<!-- untrusted: "+m[1]+" -->", caution+rest
	}
	out, err := put(ctx, f, comment{marker: marker, rest: f.Text(rest), CommentOptions: o})
	if code(err) == http.StatusForbidden {
		return Outcome{Done: Forbidden, Why: err.Error()}, nil
	}
	return out, err
}

// comment is the text of a comment in its parts.
type comment struct {
	marker, rest string
	CommentOptions
}

// body returns the text with a second line that says which run has written it.
func (c comment) body() string {
	return fmt.Sprintf("%s\n<!-- head=%s run=%d -->\n%s", c.marker, c.Head, c.Run, c.rest)
}

var runLine = regexp.MustCompile(`^<!-- head=\S* run=(\d+) -->$`)

// written returns the run that has written a body, and the body without the line that says so.
func written(body string) (run int, text string) {
	lines := strings.SplitN(strings.ReplaceAll(body, "\r\n", "\n"), "\n", 3)
	if len(lines) < 3 {
		return 0, body
	}
	m := runLine.FindStringSubmatch(lines[1])
	if m == nil {
		return 0, strings.Join(lines, "\n")
	}
	if run, err := strconv.Atoi(m[1]); err == nil {
		return run, lines[0] + "\n" + lines[2]
	}
	return 0, lines[0] + "\n" + lines[2] // more digits than a run number has
}

func put(ctx context.Context, f Forge, c comment) (Outcome, error) {
	own, err := ownComments(ctx, f, c.marker)
	if err != nil {
		return Outcome{}, err
	}
	if len(own) == 0 {
		if c.OnlyUpdate {
			return Outcome{Done: Skipped, Why: "there is no comment to update"}, nil
		}
		url, err := sized(f, c, func(body string) (string, error) { return f.Create(ctx, body) })
		return Outcome{Done: Created, URL: url}, err
	}
	newest := own[len(own)-1]
	defer func() {
		for _, old := range own[:len(own)-1] {
			_ = f.Hide(ctx, old) // one that can't be hidden stays visible
		}
	}()
	text := c.rest
	before := shownBefore(ctx, f, text, newest)
	c.rest = before.with(text, false)
	run, there := written(newest.Body)
	_, wanted := written(shorten(c.body(), f.Limit()))
	switch {
	case run > c.Run && c.Run > 0:
		return Outcome{Done: Skipped, URL: newest.URL, Why: fmt.Sprintf("the newer run %d has already written it", run)}, nil
	case strings.TrimSpace(there) == strings.TrimSpace(wanted):
		return Outcome{Done: Unchanged, URL: newest.URL, Why: "the text is the same"}, nil
	}
	c.rest = before.with(text, true)
	url, err := sized(f, c, func(body string) (string, error) { return f.Edit(ctx, newest.ID, body) })
	if code(err) == http.StatusNotFound { // deleted since it was listed
		url, err = sized(f, c, func(body string) (string, error) { return f.Create(ctx, body) })
		return Outcome{Done: Created, URL: url}, err
	}
	return Outcome{Done: Edited, URL: url}, err
}

func ownComments(ctx context.Context, f Forge, marker string) ([]Comment, error) {
	all, err := f.Comments(ctx)
	if err != nil {
		return nil, err
	}
	var marked []Comment
	for _, c := range all {
		if first, _, _ := strings.Cut(c.Body, "\n"); strings.TrimSuffix(first, "\r") == marker {
			marked = append(marked, c)
		}
	}
	if len(marked) == 0 {
		return nil, nil
	}
	author, err := f.Author(ctx)
	if err != nil {
		return nil, err
	}
	var own []Comment
	for _, c := range marked {
		if c.Author == author {
			own = append(own, c)
		}
	}
	return own, nil
}

// sized sends a body that the forge accepts: cut to its limit, and once more to half of that
// when the forge refuses it as too long after all.
func sized(f Forge, c comment, send func(body string) (string, error)) (string, error) {
	body := shorten(c.body(), f.Limit())
	url, err := send(body)
	if code(err) == http.StatusUnprocessableEntity || code(err) == http.StatusRequestEntityTooLarge {
		return send(shorten(body, len(body)/2))
	}
	return url, err
}
