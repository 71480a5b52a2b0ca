package forge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/plan"
)

// clientOf returns the client that a forge uses.
func clientOf(t *testing.T, f Forge) *client {
	t.Helper()
	switch f := f.(type) {
	case *github:
		return f.client
	case *gitea:
		return f.client
	case *gitlab:
		return f.client
	case *bitbucket:
		return f.client
	case *azure:
		return f.client
	}
	t.Fatalf("%T has no client that is known", f)
	return nil
}

// asked lists what a forge is asked for: each sends one request of its own that can be refused.
var asked = []string{"list", "create", "edit", "check"}

// methodOf returns the HTTP method of what a forge is asked for.
func methodOf(what, kind string) string {
	switch {
	case what == "list":
		return http.MethodGet
	case what != "edit":
		return http.MethodPost
	case kind == "gitlab" || kind == "bitbucket":
		return http.MethodPut
	}
	return http.MethodPatch
}

// ask asks a forge; a server that is asked to edit has a comment.
func ask(t *testing.T, what string, f Forge, s *server) (Outcome, error) {
	t.Helper()
	switch what {
	case "check":
		_, err := f.Check(t.Context(), Check{Name: "plan of shop/web", Title: "1 to delete"})
		return Outcome{}, err
	case "edit":
		s.comments = []Comment{{Author: "planner", Body: of(3, body)}}
	}
	return Put(t.Context(), f, body+"more\n", CommentOptions{Head: "abc", Run: 7})
}

// What a forge may answer instead of what it is asked for, once or always: how often it is asked,
// with which pauses, and with which result. want is the outcome, or what the error says.
func TestAnswers(t *testing.T) {
	second := time.Second
	const message = `{"message":"as the forge says"}`
	type result struct {
		sent   int
		pauses []time.Duration
		want   string
	}
	again := []time.Duration{second, 2 * second, 4 * second}
	for _, tc := range []struct {
		name   string
		answer http.HandlerFunc
		always bool
		of     map[string]result
	}{
		{"403", answer(403, message), false, map[string]result{
			"list": {1, nil, "forbidden"}, "create": {1, nil, "forbidden"}, "edit": {1, nil, "forbidden"}, "check": {1, nil, "403 forbidden: as the forge says"},
		}},
		{"404", answer(404, message), false, map[string]result{
			"list": {1, nil, "404 not found: as the forge says"}, "create": {1, nil, "404 not found: as the forge says"}, "edit": {1, nil, "created"}, "check": {1, nil, "404 not found: as the forge says"},
		}},
		{"409", answer(409, message), false, map[string]result{
			"list": {2, again[:1], "created"}, "create": {2, again[:1], "created"}, "edit": {2, again[:1], "edited"}, "check": {2, again[:1], ""},
		}},
		{"409 for good", answer(409, message), true, map[string]result{
			"list": {4, again, "409 conflict: as the forge says"}, "create": {4, again, "409 conflict"}, "edit": {4, again, "409 conflict"}, "check": {4, again, "409 conflict"},
		}},
		{"422", answer(422, message), false, map[string]result{
			"list": {1, nil, "422 unprocessable entity: as the forge says"}, "create": {2, nil, "created"}, "edit": {2, nil, "edited"}, "check": {1, nil, "422 unprocessable entity"},
		}},
		{"422 for good", answer(422, message), true, map[string]result{
			"create": {2, nil, "422 unprocessable entity: as the forge says"}, "edit": {2, nil, "422 unprocessable entity: as the forge says"},
		}},
		{"413", answer(413, ""), false, map[string]result{"create": {2, nil, "created"}, "edit": {2, nil, "edited"}}},
		{"429 with Retry-After", answer(429, "", "Retry-After", "7"), false, map[string]result{
			"list": {2, []time.Duration{7 * second}, "created"}, "create": {2, []time.Duration{7 * second}, "created"}, "edit": {2, []time.Duration{7 * second}, "edited"}, "check": {2, []time.Duration{7 * second}, ""},
		}},
		{"429 until a date", answer(429, "", "Retry-After", "Thu, 01 Jan 2026 00:00:07 GMT", "Date", "Thu, 01 Jan 2026 00:00:00 GMT"), false, map[string]result{
			"list": {2, []time.Duration{7 * second}, "created"}, "create": {2, []time.Duration{7 * second}, "created"}, "edit": {2, []time.Duration{7 * second}, "edited"}, "check": {2, []time.Duration{7 * second}, ""},
		}},
		{"429 until a date that is over", answer(429, "", "Retry-After", "Thu, 01 Jan 2026 00:00:00 GMT", "Date", "Thu, 01 Jan 2026 00:00:07 GMT"), false, map[string]result{"list": {2, again[:1], "created"}}},
		{"429 without", answer(429, ""), false, map[string]result{
			"list": {2, again[:1], "created"}, "create": {2, again[:1], "created"}, "edit": {2, again[:1], "edited"}, "check": {2, again[:1], ""},
		}},
		{"429 for an hour", answer(429, "", "Retry-After", "3600"), false, map[string]result{
			"list": {1, nil, "429 too many requests"}, "create": {1, nil, "429 too many requests"}, "edit": {1, nil, "429 too many requests"}, "check": {1, nil, "429 too many requests"},
		}},
		{"429 for good", answer(429, message), true, map[string]result{
			"list": {4, again, "429 too many requests: as the forge says"}, "create": {4, again, "429 too many requests"}, "edit": {4, again, "429 too many requests"}, "check": {4, again, "429 too many requests"},
		}},
		// A comment or check that is created twice is worse than one that is not created.
		{"500", answer(500, message), false, map[string]result{
			"list": {2, again[:1], "created"}, "create": {1, nil, "500 internal server error: as the forge says"}, "edit": {2, again[:1], "edited"}, "check": {1, nil, "500 internal server error: as the forge says"},
		}},
		{"503 for good", answer(503, "<html>"), true, map[string]result{
			"list": {4, again, "503 service unavailable"}, "create": {1, nil, "503 service unavailable"}, "edit": {4, again, "503 service unavailable"}, "check": {1, nil, "503 service unavailable"},
		}},
		{"an answer that breaks off", breaksOff, false, map[string]result{
			"list": {2, again[:1], "created"}, "create": {1, nil, "unexpected EOF"}, "edit": {2, again[:1], "edited"}, "check": {1, nil, "unexpected EOF"},
		}},
	} {
		for _, kind := range Kinds() {
			for _, what := range asked {
				want, some := tc.of[what]
				if !some {
					continue
				}
				t.Run(tc.name+"/"+what+"/"+kind, func(t *testing.T) {
					s := serve(t)
					method := methodOf(what, kind)
					s.refuse[method] = []http.HandlerFunc{tc.answer}
					if tc.always {
						s.refuse[method] = slices.Repeat(s.refuse[method], 9)
					}
					f, pauses := s.open(t, kind)
					out, err := ask(t, what, f, s)
					got := string(out.Done)
					if err != nil {
						got = err.Error()
					}
					sent := s.count(method)
					if what == "list" {
						sent = s.count("GET") - s.count("GET /user") - s.count("GET /_apis")
					}
					if sent != want.sent || !slices.Equal(*pauses, want.pauses) || !strings.Contains(got, want.want) || err == nil && got != want.want {
						t.Errorf("%q after %v, pauses %v; want %+v", got, s.requests, *pauses, want)
					}
				})
			}
		}
	}
}

// breaksOff promises more than it sends.
func breaksOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `[{"id": 1`)
}

// An answer that comes byte by byte is read to its end.
func TestSlowAnswers(t *testing.T) {
	for _, kind := range Kinds() {
		for _, what := range asked {
			s := serve(t)
			forge := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forge.ServeHTTP(slowly{w}, r) })
			f, pauses := s.open(t, kind)
			if _, err := ask(t, what, f, s); err != nil || len(*pauses) > 0 {
				t.Errorf("%s, %s: %v, pauses %v", kind, what, err, *pauses)
			}
		}
	}
}

// slowly sends each byte separately.
type slowly struct{ http.ResponseWriter }

func (w slowly) Write(text []byte) (int, error) {
	for i := range text {
		if n, err := w.ResponseWriter.Write(text[i : i+1]); err != nil {
			return i + n, err
		}
		w.ResponseWriter.(http.Flusher).Flush()
	}
	return len(text), nil
}

// A server that begins to answer and never finishes is given up on: requests that only read are
// repeated, those that create something are not.
func TestAnswersWithoutAnEnd(t *testing.T) {
	for _, kind := range Kinds() {
		for what, again := range map[string]int{"list": attempts - 1, "check": 0} {
			s := serve(t)
			over := make(chan struct{})
			endless := func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "[")
				w.(http.Flusher).Flush()
				<-over
			}
			s.refuse[methodOf(what, kind)] = slices.Repeat([]http.HandlerFunc{endless}, attempts+1)
			f, pauses := s.open(t, kind)
			clientOf(t, f).timeout = 10 * time.Millisecond
			_, err := ask(t, what, f, s)
			close(over)
			if err == nil || !strings.Contains(err.Error(), "deadline exceeded") || len(*pauses) != again {
				t.Errorf("%s, %s: %v after pauses %v", kind, what, err, *pauses)
			}
		}
	}
}

// Some forges still list a deleted comment; it does not count.
func TestDeletedComments(t *testing.T) {
	const text = `"` + mark + `\n### Release shop/web\n"`
	for kind, list := range map[string]string{
		"bitbucket":              `{"values":[{"id":1,"deleted":true,"content":{"raw":"[kubectl-release]: #kubectl-release%20plan%20of%20shop%2Fweb\n"},"user":{"uuid":"planner"}}]}`,
		"azure, a thread":        `{"value":[{"id":1,"isDeleted":true,"comments":[{"id":1,"content":` + text + `,"author":{"id":"planner"}}]}]}`,
		"azure, its comment":     `{"value":[{"id":1,"comments":[{"id":1,"isDeleted":true,"content":` + text + `,"author":{"id":"planner"}}]}]}`,
		"azure, an empty thread": `{"value":[{"id":1,"comments":[]}]}`,
	} {
		s := serve(t)
		kind, _, _ := strings.Cut(kind, ",")
		s.refuse["GET"] = []http.HandlerFunc{answer(200, list)}
		f, _ := s.open(t, kind)
		if out, err := Put(t.Context(), f, body, CommentOptions{Head: "abc", Run: 7}); err != nil || out.Done != Created {
			t.Errorf("%s: %+v, %v", list, out, err)
		}
	}
}

// What each forge is sent, word for word, as the pages of its API have it.
func TestRequests(t *testing.T) {
	const (
		markdown = `<!-- kubectl-release plan of shop/web -->\n<!-- head=abc run=7 -->\n### Release shop/web: upgrade 1 → 2\nmore\n`
		inTable  = `[kubectl-release]: #kubectl-release%20plan%20of%20shop%2Fweb\n[kubectl-release]: #head=abc%20run=7\n\n### Release shop/web: upgrade 1 → 2\nmore\n`
		github   = `GET /repos/shop/charts/issues/17/comments?per_page=100
POST /repos/shop/charts/issues/17/comments {"body":"` + markdown + `"}
GET /repos/shop/charts/issues/17/comments?per_page=100
GET /user
PATCH /repos/shop/charts/issues/comments/0 {"body":"` + markdown + `"}
`
	)
	for kind, want := range map[string]string{
		"github": github + `POST /repos/shop/charts/check-runs {"conclusion":"success","external_id":"sha256:01","head_sha":"c0ffee","name":"plan of shop/web","output":{"title":"1 to delete","summary":"text","annotations":[{"path":"a.yaml","start_line":3,"end_line":3,"annotation_level":"warning","title":"risk/delete","message":"it goes"}]},"status":"completed"}
`,
		"gitea": github + `POST /repos/shop/charts/statuses/c0ffee {"context":"plan of shop/web","description":"1 to delete","state":"success"}
`,
		"gitlab": `GET /projects/shop%2Fcharts/merge_requests/17/notes?per_page=100&sort=asc&order_by=created_at
POST /projects/shop%2Fcharts/merge_requests/17/notes {"body":"` + markdown + `"}
GET /projects/shop%2Fcharts/merge_requests/17/notes?per_page=100&sort=asc&order_by=created_at
GET /user
PUT /projects/shop%2Fcharts/merge_requests/17/notes/0 {"body":"` + markdown + `"}
POST /projects/shop%2Fcharts/statuses/c0ffee {"description":"1 to delete","name":"plan of shop/web","state":"success"}
`,
		"bitbucket": `GET /repositories/shop/charts/pullrequests/17/comments?pagelen=100
POST /repositories/shop/charts/pullrequests/17/comments {"content":{"raw":"` + inTable + `"}}
GET /repositories/shop/charts/pullrequests/17/comments?pagelen=100
GET /user
PUT /repositories/shop/charts/pullrequests/17/comments/0 {"content":{"raw":"` + inTable + `"}}
POST /repositories/shop/charts/commit/c0ffee/statuses/build {"description":"1 to delete","key":"kubectl-release-17d0f13fb951","name":"plan of shop/web","refname":"change","state":"SUCCESSFUL","url":"https://bitbucket.org/shop/charts/pull-requests/17"}
PUT /repositories/shop/charts/commit/c0ffee/reports/kubectl-release-17d0f13fb951 {"details":"1 to delete","link":"https://bitbucket.org/shop/charts/pull-requests/17","report_type":"TEST","reporter":"kubectl-release","result":"PASSED","title":"plan of shop/web"}
POST /repositories/shop/charts/commit/c0ffee/reports/kubectl-release-17d0f13fb951/annotations [{"external_id":"01","title":"risk/delete","annotation_type":"CODE_SMELL","summary":"it goes","severity":"MEDIUM","path":"a.yaml","line":3}]
`,
		"azure": `GET /shop/_apis/git/repositories/charts/pullRequests/17/threads?api-version=7.1
POST /shop/_apis/git/repositories/charts/pullRequests/17/threads?api-version=7.1 {"comments":[{"commentType":"text","content":"` + markdown + `","parentCommentId":0}],"status":"closed"}
GET /shop/_apis/git/repositories/charts/pullRequests/17/threads?api-version=7.1
GET /_apis/connectionData?api-version=7.1-preview
PATCH /shop/_apis/git/repositories/charts/pullRequests/17/threads/0/comments/1?api-version=7.1 {"content":"` + markdown + `"}
POST /shop/_apis/git/repositories/charts/pullRequests/17/statuses?api-version=7.1 {"context":{"genre":"kubectl-release","name":"plan of shop/web"},"description":"1 to delete","state":"succeeded"}
`,
	} {
		s := serve(t)
		f, _ := s.open(t, kind)
		for _, what := range []string{"create", "edit"} {
			if _, err := ask(t, what, f, s); err != nil {
				t.Fatal(kind, err)
			}
		}
		found := findings.Finding{Rule: "risk/delete", Level: findings.Warning, Message: "it goes", Fingerprint: "01", Place: plan.Place{File: "a.yaml", Line: 3}}
		if _, err := f.Check(t.Context(), Check{Name: "plan of shop/web", Title: "1 to delete", Digest: "sha256:01", Text: "text", Findings: []findings.Finding{found}}); err != nil {
			t.Fatal(kind, err)
		}
		sent := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(strings.Join(s.sent, ""))
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s: -want +got:\n%s", kind, diff)
		}
	}
}
