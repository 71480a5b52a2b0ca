package command

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fleetTitle is the title of the gallery's part about a fleet, which TestGallery in e2e leaves alone.
const fleetTitle = "120 releases of a repository"

// docs/gallery.md shows what a change to a whole fleet leads to: the comment, the job summary, the
// check and the page. UPDATE=1 rewrites it.
func TestGalleryShowsAFleet(t *testing.T) {
	const file = "../../docs/gallery.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, section, found := strings.Cut(string(page), "\n## "+fleetTitle+"\n")
	if !found {
		t.Fatalf("%s has no part %q", file, fleetTitle)
	}
	section, after, _ := strings.Cut(section, "\n## ")
	if after != "" {
		after = "\n## " + after
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := fleetSection(t)
	if os.Getenv("UPDATE") != "" {
		t.Chdir(dir)
		if err := os.WriteFile(file, []byte(before+"\n## "+fleetTitle+"\n"+want+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(section, "\n")); diff != "" {
		t.Errorf("%s is not what is printed (UPDATE=1 writes it anew), -want +got:\n%s", file, diff)
	}
}

// fleetSection returns that part of the gallery, without its title.
func fleetSection(t *testing.T) string {
	t.Helper()
	fleet(t)
	changeAll(t)
	planned := planFleet(t, fleetFiles[0], "-o html --report markdown=plan.md --report summary=summary.md --report sarif=plan.sarif")
	if planned.code != exitError || planned.err != "" {
		t.Fatalf("exit code %d\n%s", planned.code, planned.err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	comment := read("plan.md")
	if summary := read("summary.md"); summary != comment {
		t.Errorf("the summary is not the comment, for which there is room:\n%s", summary)
	}
	_, shown, _ := strings.Cut(comment, "### ") // what comes before is not visible
	shown, _, _ = strings.Cut(shown, "\n<details><summary><code>")
	var out strings.Builder
	fmt.Fprintf(&out, "\nForty applications in three environments get another major version of their image, one environment less\nreplicas, one application loses its ConfigMap, and one the Service that its StatefulSet is of. This is the\ncomment, as GitHub shows it; below it each of the rows has its details to unfold. The summary of the job is the\nsame.\n\n### %s", shown)
	check, text := fleetCheck(t)
	if text != comment {
		t.Errorf("the check's text is not the comment:\n%s", text)
	}
	fmt.Fprintf(&out, "\n### The same as a check, and as a page\n\nThe check-run has the comment as its text, and a note at each line that makes it so:\n\n```text\n%s```\n", check)
	fmt.Fprintf(&out, "\n`-o html` is a page that begins with an index, whose releases lead to their plans:\n\n```text\n%s```\n", inWords(planned.out))
	return out.String()
}

// fleetCheck returns what a GitHub server is sent about the fleet: name, title and annotations, as
// lines, and the text.
func fleetCheck(t *testing.T) (lines, text string) {
	t.Helper()
	var made struct {
		Name, Conclusion string
		Output           struct {
			Title, Summary string
			Annotations    []struct {
				Path    string `json:"path"`
				Line    int    `json:"start_line"`
				Level   string `json:"annotation_level"`
				Title   string `json:"title"`
				Message string `json:"message"`
			}
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // later requests have the other annotations
			if err := json.NewDecoder(r.Body).Decode(&made); err != nil {
				t.Error(err)
			}
		}
		_, _ = io.WriteString(w, `{"id":1,"html_url":"https://forge.example/1"}`)
	}))
	defer server.Close()
	for name, value := range map[string]string{
		"GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": "shop/releases", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_API_URL": server.URL, "GITHUB_EVENT_PATH": "", "GITHUB_SHA": "c0ffee",
	} {
		t.Setenv(name, value)
	}
	said(t, "check", "plan.sarif", "--to", "github", "--text", "plan.md")
	out := fmt.Sprintf("%s: %s\n%s\n\n", made.Name, made.Conclusion, made.Output.Title)
	const shown = 8
	for _, a := range made.Output.Annotations[:shown] {
		message, _, _ := strings.Cut(a.Message, " → keep them")
		out += fmt.Sprintf("%s:%d: %s: %s: %s\n", a.Path, a.Line, a.Level, a.Title, message)
	}
	return out + "[…]\n", made.Output.Summary
}

var (
	folded = regexp.MustCompile(`(?s)<details><summary>([^<]*)</summary>.*?</details>`)
	cells  = regexp.MustCompile(`</t[dh]><t[dh]>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
	spaces = regexp.MustCompile(`( │ )?\s*\n+`)
)

// inWords returns what a reader of the page sees above its plans.
func inWords(page string) string {
	_, index, _ := strings.Cut(page, "<main>\n")
	index, _, _ = strings.Cut(index, `<p class="tools">`)
	index, matrices, _ := strings.Cut(index, "<h2>")
	index = folded.ReplaceAllString(index, " ▸ $1")
	index = strings.NewReplacer("<div>", " ", "</h1>", "\n", "</p>", "\n").Replace(cells.ReplaceAllString(index, " │ "))
	title, _, _ := strings.Cut(matrices, "</h2>")
	index = strings.TrimSpace(html.UnescapeString(tags.ReplaceAllString(index, "")))
	return spaces.ReplaceAllString(index, "\n") + "\n\n" + title + "\n[…]\n"
}
