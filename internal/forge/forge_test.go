package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/plan"
)

const secret = "t0ken-canary"

// server is a forge that records its requests and answers as the forges do. Comments of GitHub,
// Gitea and GitLab differ only in names of fields.
type server struct {
	*httptest.Server
	// comments have their authors' names and bodies; their index is their ID.
	comments []Comment
	// refuse answers requests of a method instead of the forge, each handler one of them.
	refuse map[string][]http.HandlerFunc
	// requests are "METHOD /path", bodies those of requests that have one.
	requests, bodies []string
	// sent are requests as they were sent, with their bodies.
	sent []string
	// perPage is how many comments a page has.
	perPage int
	// reviews are those of the pull request, in JSON; "" means that they may not be read.
	reviews string
	// user is the token's. noUser means that it may not read /user, like the tokens of jobs and apps on
	// GitHub; viewer is what GraphQL says instead, "" if it refuses to.
	user, viewer string
	noUser       bool
	// root is the path of GitHub's REST API.
	root string
}

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{refuse: map[string][]http.HandlerFunc{}, perPage: 100, user: "planner"}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.sent = append(s.sent, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body))+"\n")
	if len(body) > 0 {
		s.bodies = append(s.bodies, string(body))
	}
	if !slices.Contains([]string{"Bearer " + secret, "token " + secret}, r.Header.Get("Authorization")) && r.Header.Get("Private-Token") != secret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if planned := s.refuse[r.Method]; len(planned) > 0 {
		s.refuse[r.Method] = planned[1:]
		planned[0](w, r)
		return
	}
	var sent struct {
		Body     string          `json:"body"`
		Content  json.RawMessage `json:"content"`
		Comments []struct {
			Content string `json:"content"`
		} `json:"comments"`
	}
	_ = json.Unmarshal(body, &sent)
	var bitbucketContent struct {
		Raw string `json:"raw"`
	}
	switch {
	case strings.Contains(r.URL.Path, "/pullrequests/"):
		_ = json.Unmarshal(sent.Content, &bitbucketContent)
		sent.Body = fromBitbucket(bitbucketContent.Raw)
	case len(sent.Comments) > 0:
		sent.Body = sent.Comments[0].Content
	case len(sent.Content) > 0:
		_ = json.Unmarshal(sent.Content, &sent.Body)
	}
	switch parts := strings.Split(r.URL.Path, "/"); {
	case r.URL.Path == strings.TrimSuffix(s.root, "/v3")+"/graphql":
		s.graphQL(w, body)
	case r.URL.Path == s.root+"/user" && s.noUser:
		answer(http.StatusForbidden, `{"message":"Resource not accessible by integration"}`)(w, r)
	case r.URL.Path == s.root+"/user":
		fmt.Fprint(w, `{"login":"planner","username":"planner","uuid":"planner"}`)
	case r.URL.Path == "/_apis/connectionData":
		fmt.Fprint(w, `{"authenticatedUser":{"id":"planner"}}`)
	case strings.Contains(r.URL.Path, "/check-runs"), strings.Contains(r.URL.Path, "/statuses"), strings.Contains(r.URL.Path, "/reports/"):
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":9,"html_url":"https://forge.example/check/9"}`)
	case strings.HasSuffix(r.URL.Path, "/reviews") && s.reviews == "":
		answer(http.StatusForbidden, `{"message":"Resource not accessible by integration"}`)(w, r)
	case strings.HasSuffix(r.URL.Path, "/reviews"):
		s.reviewed(w, r)
	case r.Method == http.MethodGet:
		s.page(w, r)
	case r.Method == http.MethodPost:
		s.comments = append(s.comments, Comment{Author: s.user, Body: sent.Body})
		s.write(w, len(s.comments)-1)
	default:
		id, _ := strconv.Atoi(parts[len(parts)-1])
		if strings.Contains(r.URL.Path, "/threads/") {
			id, _ = strconv.Atoi(parts[len(parts)-3])
		}
		s.comments[id].Body = sent.Body
		s.write(w, id)
	}
}

// reviewed lists reviews: Gitea, whose requests have a "token", one a page, without a link to the next.
func (s *server) reviewed(w http.ResponseWriter, r *http.Request) {
	var all []json.RawMessage
	_ = json.Unmarshal([]byte(s.reviews), &all)
	if strings.HasPrefix(r.Header.Get("Authorization"), "token ") {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		page = max(page, 1)
		all = all[min(page-1, len(all)):min(page, len(all))]
	}
	_ = json.NewEncoder(w).Encode(all)
}

// graphQL answers what GitHub is asked through GraphQL: errors, too, have status 200.
func (s *server) graphQL(w http.ResponseWriter, body []byte) {
	switch asks := strings.Contains(string(body), "viewer"); {
	case asks && s.viewer == "":
		fmt.Fprint(w, `{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`)
	case asks:
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"viewer": map[string]string{"login": s.viewer}}})
	default:
		fmt.Fprint(w, `{"data":{}}`)
	}
}

func (s *server) one(id int) map[string]any {
	c := s.comments[id]
	by := map[string]string{"login": c.Author, "username": c.Author, "uuid": c.Author, "id": c.Author}
	return map[string]any{
		"content": map[string]string{"raw": toBitbucket(c.Body)}, "links": map[string]any{"html": map[string]string{"href": "https://forge.example/c/" + strconv.Itoa(id)}},
		"comments": []any{map[string]any{"id": 1, "content": c.Body, "author": by}},
		"id":       id, "node_id": "N" + strconv.Itoa(id), "body": c.Body, "html_url": "https://forge.example/c/" + strconv.Itoa(id), "user": by, "author": by,
		"updated_at": c.Updated,
	}
}

func (s *server) write(w http.ResponseWriter, id int) { _ = json.NewEncoder(w).Encode(s.one(id)) }

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	first, last := n*s.perPage, min((n+1)*s.perPage, len(s.comments))
	if strings.HasSuffix(r.URL.Path, "/threads") {
		first, last = 0, len(s.comments)
	}
	list := []any{}
	for id := first; id < last; id++ {
		list = append(list, s.one(id))
	}
	next := fmt.Sprintf("%s%s?page=%d", s.URL, r.URL.Path, n+1)
	switch {
	case strings.HasSuffix(r.URL.Path, "/threads"):
		_ = json.NewEncoder(w).Encode(map[string]any{"value": list})
		return
	case strings.Contains(r.URL.Path, "/pullrequests/"):
		page := map[string]any{"values": list}
		if last < len(s.comments) {
			page["next"] = next
		}
		_ = json.NewEncoder(w).Encode(page)
		return
	case last < len(s.comments):
		w.Header().Add("Link", fmt.Sprintf(`<%s%s?page=0>; rel="first", <%s>; rel="next"`, s.URL, r.URL.Path, next))
	}
	_ = json.NewEncoder(w).Encode(list)
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// open returns a forge whose API is the server, and the pauses that it made.
func (s *server) open(t *testing.T, kind string) (Forge, *[]time.Duration) {
	t.Helper()
	return s.openWith(t, kind, nil)
}

// openWith is open in a job that has more variables.
func (s *server) openWith(t *testing.T, kind string, more map[string]string) (Forge, *[]time.Duration) {
	t.Helper()
	variables := map[string]string{
		"GITHUB_TOKEN": secret, "GITHUB_API_URL": s.URL + s.root, "GITHUB_REPOSITORY": "shop/charts", "GITHUB_REF": "refs/pull/17/merge", "GITHUB_SHA": "c0ffee",
		"GITLAB_TOKEN": secret, "CI_API_V4_URL": s.URL, "CI_PROJECT_ID": "shop/charts", "CI_MERGE_REQUEST_IID": "17", "CI_COMMIT_SHA": "c0ffee",
		"CI_MERGE_REQUEST_PROJECT_URL": "https://forge.example/shop/charts",
		"BITBUCKET_TOKEN":              secret, "BITBUCKET_API_URL": s.URL, "BITBUCKET_WORKSPACE": "shop", "BITBUCKET_REPO_SLUG": "charts", "BITBUCKET_PR_ID": "17",
		"BITBUCKET_COMMIT": "c0ffee", "BITBUCKET_BRANCH": "change",
		"SYSTEM_ACCESSTOKEN": secret, "SYSTEM_COLLECTIONURI": s.URL + "/", "SYSTEM_TEAMPROJECTID": "shop", "BUILD_REPOSITORY_ID": "charts", "SYSTEM_PULLREQUEST_PULLREQUESTID": "17",
	}
	maps.Copy(variables, more)
	var pauses []time.Duration
	f, err := Open(kind, Environment{
		Lookup:    func(name string) string { return variables[name] },
		UserAgent: "kubectl-release/test",
		Sleep:     func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, &pauses
}

const (
	mark = "<!-- kubectl-release plan of shop/web -->"
	body = mark + "\n### Release shop/web: upgrade 1 → 2\n"
)

func of(run int, text string) string {
	return strings.Replace(text, "\n", fmt.Sprintf("\n<!-- head=abc run=%d -->\n", run), 1)
}

func (s *server) count(prefix string) int {
	n := 0
	for _, r := range s.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

// Check 19: what becomes of a comment, on all forges.
func TestComment(t *testing.T) {
	ours := func(bodies ...string) []Comment {
		var out []Comment
		for _, b := range bodies {
			out = append(out, Comment{Author: "planner", Body: b})
		}
		return out
	}
	long := body + strings.Repeat("a line of some length\n", 2000)
	for _, tc := range []struct {
		name  string
		there []Comment
		text  string
		// refuse is what the first request of a method is answered with.
		refuse  map[string]http.HandlerFunc
		options CommentOptions
		done    Done
		writes  int
		pauses  []time.Duration
		check   func(t *testing.T, s *server, out Outcome)
	}{
		{name: "create", text: body, done: Created, writes: 1, check: func(t *testing.T, s *server, out Outcome) {
			if s.comments[0].Body != of(7, body) || out.URL == "" {
				t.Errorf("%q at %q", s.comments[0].Body, out.URL)
			}
		}},
		{name: "edit", there: ours(of(3, body)), text: body + "more\n", done: Edited, writes: 1, check: func(t *testing.T, s *server, _ Outcome) {
			if len(s.comments) != 1 || s.comments[0].Body != of(7, body+"more\n") {
				t.Errorf("%+v", s.comments)
			}
		}},
		{name: "same-body", there: ours(strings.ReplaceAll(of(3, body), "\n", "\r\n")), text: body, done: Unchanged},
		{name: "only-update", text: body, options: CommentOptions{OnlyUpdate: true}, done: Skipped},
		{name: "somebody-elses", there: []Comment{{Author: "mallory", Body: of(99, body)}}, text: body, done: Created, writes: 1},
		{name: "other-marker", there: ours(strings.Replace(of(3, body), "shop/web", "shop/web2", 1)), text: body, done: Created, writes: 1},
		{name: "quoted-marker", there: ours("> " + of(3, body)), text: body, done: Created, writes: 1},
		{name: "newer-run", there: ours(of(8, body)), text: body + "more\n", done: Skipped},
		{name: "forbidden", text: body, refuse: map[string]http.HandlerFunc{"POST": answer(403, `{"message":"Resource not accessible by integration"}`)}, done: Forbidden, writes: 1, check: func(t *testing.T, _ *server, out Outcome) {
			if !strings.Contains(out.Why, "not accessible") {
				t.Error(out.Why)
			}
		}},
		{name: "too-long", text: long, refuse: map[string]http.HandlerFunc{"POST": answer(422, `{"message":"Validation Failed","errors":[{"message":"body is too long"}]}`)}, done: Created, writes: 2, check: func(t *testing.T, s *server, _ Outcome) {
			if got := s.comments[0].Body; len(got) > len(of(7, long))/2 || !strings.HasPrefix(got, mark) || !strings.HasSuffix(got, cutNote) {
				t.Errorf("%d bytes: …%s", len(got), got[max(0, len(got)-100):])
			}
		}},
		{name: "retry-after", text: body, refuse: map[string]http.HandlerFunc{"POST": answer(429, "", "Retry-After", "7")}, done: Created, writes: 2, pauses: []time.Duration{7 * time.Second}},
		{name: "limited-for-a-while", text: body, refuse: map[string]http.HandlerFunc{"POST": answer(403, `{"message":"You have exceeded a secondary rate limit"}`, "Retry-After", "30")}, done: Created, writes: 2, pauses: []time.Duration{30 * time.Second}},
		{name: "limited-for-too-long", text: body, refuse: map[string]http.HandlerFunc{"POST": answer(403, `{"message":"limit"}`, "Retry-After", "3600")}, done: Forbidden, writes: 1},
		{name: "server-error", there: ours(of(3, body)), text: body + "more\n", refuse: map[string]http.HandlerFunc{"GET": answer(502, "<html>"), "PATCH": answer(500, ""), "PUT": answer(500, "")}, done: Edited, writes: 2, pauses: []time.Duration{time.Second, time.Second}},
		{name: "gone", there: ours(of(3, body)), text: body + "more\n", refuse: map[string]http.HandlerFunc{"PATCH": answer(404, `{"message":"Not Found"}`), "PUT": answer(404, `{"message":"404 Not found"}`)}, done: Created, writes: 2},
		{name: "pages", there: append(make([]Comment, 30), ours(of(3, body))...), text: body + "more\n", done: Edited, writes: 1, check: func(t *testing.T, s *server, _ Outcome) {
			if len(s.comments) != 31 || s.comments[30].Body != of(7, body+"more\n") {
				t.Errorf("%+v", s.comments[30:])
			}
		}},
	} {
		for _, kind := range Kinds() {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				s := serve(t)
				s.comments, s.perPage = slices.Clone(tc.there), 10
				for method, handler := range tc.refuse {
					s.refuse[method] = []http.HandlerFunc{handler}
				}
				f, pauses := s.open(t, kind)
				tc.options.Head, tc.options.Run = "abc", 7
				out, err := Put(t.Context(), f, tc.text, tc.options)
				if err != nil {
					t.Fatal(err)
				}
				if writes := s.count("POST") + s.count("PATCH") + s.count("PUT"); out.Done != tc.done || writes != tc.writes || !slices.Equal(*pauses, tc.pauses) {
					t.Errorf("%+v after %v, pauses %v, want %s", out, s.requests, *pauses, tc.done)
				}
				if tc.check != nil {
					tc.check(t, s, out)
				}
			})
		}
	}
	t.Run("two-markers", func(t *testing.T) {
		s := serve(t)
		s.noUser = true
		s.comments = []Comment{{Author: "github-actions[bot]", Body: of(3, body)}, {Author: "ana", Body: "hello"}, {Author: "github-actions[bot]", Body: of(4, body)}}
		f, _ := s.open(t, "github")
		out, err := Put(t.Context(), f, body+"more\n", CommentOptions{Run: 7, Head: "abc"})
		if err != nil || out.Done != Edited {
			t.Fatal(out, err)
		}
		if s.comments[0].Body != of(3, body) || s.comments[2].Body != of(7, body+"more\n") {
			t.Errorf("not the newest was edited: %+v", s.comments)
		}
		if s.count("POST /graphql") != 2 || !strings.Contains(s.bodies[len(s.bodies)-1], `"id":"N0"`) {
			t.Errorf("the older one is not hidden: %v", s.bodies)
		}
	})
	t.Run("no-marker", func(t *testing.T) {
		f, _ := serve(t).open(t, "github")
		if _, err := Put(t.Context(), f, "hello", CommentOptions{}); !errors.Is(err, ErrNoMarker) {
			t.Error(err)
		}
	})
}

// Tokens of GitHub Apps and of jobs may not read /user; GraphQL says who they are. On GitHub Enterprise
// Server it is at another path than on github.com.
func TestCommentsOfApps(t *testing.T) {
	for name, tc := range map[string]struct{ user, viewer, root string }{
		"an app":                         {"planner[bot]", "planner[bot]", ""},
		"an app, without the suffix":     {"planner[bot]", "planner", ""},
		"an app, on Enterprise Server":   {"planner[bot]", "planner[bot]", "/api/v3"},
		"a job":                          {"github-actions[bot]", "github-actions[bot]", ""},
		"a job that GraphQL refuses":     {"github-actions[bot]", "", ""},
		"the same, on Enterprise Server": {"github-actions[bot]", "", "/api/v3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			s.user, s.viewer, s.root, s.noUser = tc.user, tc.viewer, tc.root, true
			others := []Comment{{Author: "renovate[bot]", Body: of(3, body)}, {Author: "planner", Body: of(3, body)}}
			s.comments = slices.Clone(others)
			f, _ := s.open(t, "github")
			for i, want := range []Done{Created, Edited} {
				if out, err := Put(t.Context(), f, body+strings.Repeat("more\n", i), CommentOptions{Run: 7 + i, Head: "abc"}); err != nil || out.Done != want {
					t.Errorf("%+v, %v; want %s", out, err, want)
				}
			}
			want := append(others, Comment{Author: tc.user, Body: of(8, body+"more\n")})
			if diff := cmp.Diff(want, s.comments, cmp.AllowUnexported(Comment{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// While GraphQL is at fault, an App is not taken for a job: that would make a second comment.
func TestCommentsOfAppsWhenGraphQLFails(t *testing.T) {
	for failures, want := range map[int]string{1: "", attempts: "503 service unavailable"} {
		s := serve(t)
		s.user, s.viewer, s.noUser = "planner[bot]", "planner", true
		s.comments = []Comment{{Author: s.user, Body: of(3, body)}}
		for range failures {
			s.refuse["POST"] = append(s.refuse["POST"], answer(http.StatusServiceUnavailable, "{}"))
		}
		f, _ := s.open(t, "github")
		_, err := Put(t.Context(), f, body+"more\n", CommentOptions{Run: 7, Head: "abc"})
		if got := fmt.Sprint(err); len(s.comments) != 1 || (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d failures: %d comments, %v", failures, len(s.comments), err)
		}
	}
}

// Shortened text is still Markdown that closes what it opens.
func TestShortenClosesWhatIsOpen(t *testing.T) {
	text := body + "\n<details><summary>x</summary>\n\n````diff\n" + strings.Repeat("+ ``` a line\n", 500) + "````\n\n</details>\n"
	for _, limit := range []int{100, 1000, 3000, len(text) - 1} {
		got := shorten(text, limit)
		if len(got) > max(limit, len(body)+len(cutNote)+len("\n")) || !strings.HasPrefix(got, body) || strings.Count(got, "````")%2 != 0 || strings.Count(got, "<details>") != strings.Count(got, "</details>") {
			t.Errorf("%d: %d bytes:\n%s", limit, len(got), got)
		}
	}
	if shorten(text, len(text)) != text {
		t.Error("what fits is changed")
	}
	const open = "<details open><summary>x</summary>\n"
	got := shorten(body+open+"</details>\n"+open+strings.Repeat("a line\n", 500), 1000)
	if strings.Count(got, "<details") != 2 || strings.Count(got, "</details>") != 2 || !strings.HasSuffix(got, "</details>\n"+cutNote) {
		t.Errorf("sections that begin unfolded are not closed:\n%s", got)
	}
}

// Check 20: the token is in a header for the API's own origin, and nowhere else: on no command line
// (no program is run), in no request to another server, in no error.
func TestCommentNeverPutsTheTokenOnACommandLine(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path := strings.Trim(i.Path.Value, `"`); !strings.HasSuffix(name, "_test.go") && (path == "os" || path == "os/exec" || path == "syscall") {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
	elsewhere := serve(t)
	for _, kind := range Kinds() {
		for what, handler := range map[string]http.HandlerFunc{
			"redirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+"/x", http.StatusFound)
			},
			"page":                    answer(200, map[bool]string{true: `{"values":[],"next":"` + elsewhere.URL + `/x"}`, false: "[]"}[kind == "bitbucket"], "Link", "<"+elsewhere.URL+`/x>; rel="next"`),
			"echo":                    answer(400, `{"message":"bad credentials: `+secret+`"}`),
			"echo in Bitbucket's way": answer(400, `{"type":"error","error":{"message":"bad credentials: `+secret+`"}}`),
		} {
			if kind == "azure" && what == "page" {
				continue // it has none
			}
			s := serve(t)
			s.refuse["GET"] = []http.HandlerFunc{handler}
			f, _ := s.open(t, kind)
			_, err := Put(t.Context(), f, body, CommentOptions{})
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s, %s: %v", kind, what, err)
			}
			for _, sent := range append(s.bodies, s.requests...) {
				if strings.Contains(sent, secret) {
					t.Errorf("%s, %s: the token is in %s", kind, what, sent)
				}
			}
		}
	}
	if len(elsewhere.requests) > 0 {
		t.Errorf("another server was asked: %v", elsewhere.requests)
	}
}

// On GitLab, the pipeline of a merge request from a fork runs in the fork, whose numbers are others:
// the note goes to the target's project, the status to the fork's commit.
func TestNotesOfAForkGoToTheTarget(t *testing.T) {
	s := serve(t)
	f, _ := s.openWith(t, "gitlab", map[string]string{"CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_PROJECT_ID": "4"})
	for _, what := range asked {
		if _, err := ask(t, what, f, s); err != nil {
			t.Fatal(err)
		}
	}
	if s.count("POST /projects/4/merge_requests/17/notes") != 1 || s.count("PUT /projects/4/merge_requests/17/notes/") != 1 || s.count("POST /projects/5/statuses/c0ffee") != 1 || s.count("GET /projects/5/") != 0 {
		t.Errorf("requests: %v", s.requests)
	}
}

// A missing variable is named.
func TestWhatIsMissingIsNamed(t *testing.T) {
	for kind, want := range map[string]string{"github": "GITHUB_TOKEN or GH_TOKEN", "gitlab": "GITLAB_TOKEN", "gitea": "GITEA_TOKEN or GITHUB_TOKEN", "bitbucket": "BITBUCKET_TOKEN", "azure": "SYSTEM_ACCESSTOKEN", "cvs": "github, gitlab, gitea, bitbucket, azure"} {
		if _, err := Open(kind, Environment{Lookup: func(string) string { return "" }}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	s := serve(t)
	f, err := Open("github", Environment{Lookup: func(name string) string {
		return map[string]string{"GITHUB_TOKEN": secret, "GITHUB_API_URL": s.URL, "GITHUB_REPOSITORY": "shop/charts", "GITHUB_REF": "refs/heads/main"}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Put(t.Context(), f, body, CommentOptions{}); !errors.Is(err, errNoPullRequest) {
		t.Error(err)
	}
}

// A check run has all findings that point to a file, fifty per request; a blocked plan fails it,
// and risks don't make it neutral.
func TestCheck(t *testing.T) {
	var found []findings.Finding
	for range 120 {
		found = append(found, findings.Finding{Rule: "risk/delete", Level: findings.Warning, Message: "m", Place: plan.Place{File: "a.yaml", Line: 3}})
	}
	found = append(found, findings.Finding{Rule: "risk/delete", Message: "of no file"})
	for _, blocked := range []bool{false, true} {
		for kind, want := range map[string]string{"github": `"conclusion":"success"`, "gitea": `"state":"success"`, "gitlab": `"state":"success"`, "bitbucket": `"state":"SUCCESSFUL"`, "azure": `"state":"succeeded"`} {
			if blocked {
				want = map[string]string{"github": `"conclusion":"failure"`, "gitea": `"state":"failure"`, "gitlab": `"state":"failed"`, "bitbucket": `"state":"FAILED"`, "azure": `"state":"failed"`}[kind]
			}
			s := serve(t)
			f, _ := s.open(t, kind)
			if _, err := f.Check(t.Context(), Check{Name: "plan of shop/web", Title: "1 to delete", Blocked: blocked, Digest: "sha256:0123", Text: strings.Repeat(strings.Repeat("x", 199)+"\n", 600), Findings: found}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.bodies[0], want) || !strings.Contains(s.bodies[0], "1 to delete") || kind != "azure" && !strings.Contains(s.bodies[0]+s.requests[0], "c0ffee") {
				t.Errorf("%s: %.300s", kind, s.bodies[0])
			}
			if kind != "github" {
				continue
			}
			if !strings.Contains(s.bodies[0], `"external_id":"sha256:0123"`) {
				t.Errorf("the digest is not the check-run's own ID: %.300s", s.bodies[0])
			}
			if n := strings.Count(strings.Join(s.bodies, ""), `"path":"a.yaml"`); n != 120 || s.count("POST") != 1 || s.count("PATCH") != 2 || strings.Count(s.bodies[0], `"path"`) != 50 {
				t.Errorf("%d annotations by %v", n, s.requests)
			}
			if len(s.bodies[0]) > 65535+50*200 {
				t.Errorf("the text is not cut: %d bytes", len(s.bodies[0]))
			}
		}
	}
}

// On Bitbucket, a check is a build status and a report, which has at most 1,000 annotations, 100 in a
// request; they are overwritten by their IDs, so a request may be sent again.
func TestBitbucketReport(t *testing.T) {
	var found []findings.Finding
	for i := range 1050 {
		found = append(found, findings.Finding{Rule: "risk/delete", Level: findings.Warning, Message: strings.Repeat("é", 600), Fingerprint: fmt.Sprint("f", i), Place: plan.Place{File: "a.yaml", Line: 3}})
	}
	found = append([]findings.Finding{{Rule: "risk/data", Message: "of no file"}}, found...)
	s := serve(t)
	f, pauses := s.open(t, "bitbucket")
	s.refuse["POST"] = []http.HandlerFunc{answer(201, "{}"), answer(502, "")} // the status, the first annotations
	if _, err := f.Check(t.Context(), Check{Name: "plan of shop/web", Title: "1 to delete", Blocked: true, Findings: found}); err != nil {
		t.Fatal(err)
	}
	const report = " /repositories/shop/charts/commit/c0ffee/reports/kubectl-release-17d0f13fb951"
	all := strings.Join(s.bodies, "\n")
	if s.count("PUT"+report) != 1 || s.count("POST"+report+"/annotations") != 11 || len(*pauses) != 1 || strings.Count(all, `"external_id":"f999"`) != 1 || strings.Contains(all, `"f1000"`) || strings.Contains(all, "of no file") {
		t.Errorf("requests: %v", s.requests)
	}
	if !strings.Contains(all, `"result":"FAILED"`) || strings.Count(s.bodies[3], `"path":"a.yaml"`) != 100 || strings.Contains(all, strings.Repeat("é", 450)) || !strings.Contains(all, strings.Repeat("é", 449)+"…") {
		t.Errorf("%.1000s", all)
	}
}

// GitHub adds the annotations of an update to those that are there: one that may have arrived is not
// sent again.
func TestAnnotationsAreNotSentTwice(t *testing.T) {
	found := slices.Repeat([]findings.Finding{{Rule: "risk/delete", Level: findings.Warning, Message: "m", Place: plan.Place{File: "a.yaml", Line: 3}}}, 60)
	for status, sent := range map[int]int{http.StatusBadGateway: 1, http.StatusTooManyRequests: 2} {
		s := serve(t)
		s.refuse["PATCH"] = []http.HandlerFunc{answer(status, "")}
		f, _ := s.open(t, "github")
		_, err := f.Check(t.Context(), Check{Name: "plan of shop/web", Title: "1 to delete", Findings: found})
		if s.count("PATCH") != sent || (err == nil) != (sent > 1) {
			t.Errorf("%d: %v after %v", status, err, s.requests)
		}
	}
}

// Bitbucket shows HTML as it is written, so a comment is Markdown there, and its first lines are
// link definitions, which nobody sees.
func TestBitbucketGetsNoHTML(t *testing.T) {
	s := serve(t)
	f, _ := s.open(t, "bitbucket")
	text := mark + "\n### Plan\n\n> [!WARNING]\n> lost\n\n| a<br>b | <details><summary>and 2 others</summary>`x`, `y`</details> |\n\n" +
		"<details><summary><code>shop/web@<!-- -->eu &amp; co</code> · 1 to change</summary>\n\n```diff\n+ <details> stays\n```\n\n```mermaid\ngraph TD\n```\n\n</details>\n<sub>rest</sub>\n"
	if _, err := Put(t.Context(), f, text, CommentOptions{Head: "abc", Run: 7}); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Content struct {
			Raw string `json:"raw"`
		} `json:"content"`
	}
	if err := json.Unmarshal([]byte(s.bodies[0]), &sent); err != nil {
		t.Fatal(err)
	}
	want := "[kubectl-release]: #kubectl-release%20plan%20of%20shop%2Fweb\n[kubectl-release]: #head=abc%20run=7\n\n### Plan\n\n> **WARNING**\n>\n> lost\n\n| a · b |  and 2 others: `x`, `y` |\n\n" +
		"**`shop/web@eu & co` · 1 to change**\n\n```diff\n+ <details> stays\n```\n\n\nrest\n"
	if diff := cmp.Diff(want, sent.Content.Raw); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The run that wrote a comment is a number in its second line; one that is too large for an integer
// does not count, or all later runs would be skipped as older.
func TestRunOfAComment(t *testing.T) {
	for line, want := range map[string]struct {
		run  int
		text string
	}{
		"<!-- head=abc run=12 -->":                   {12, "marker\ntext"},
		"<!-- head=abc run=99999999999999999999 -->": {0, "marker\ntext"},
		"<!-- head=abc -->":                          {0, "marker\n<!-- head=abc -->\ntext"},
	} {
		if run, text := written("marker\n" + line + "\ntext"); run != want.run || text != want.text {
			t.Errorf("%s: run %d, text %q", line, run, text)
		}
	}
}
