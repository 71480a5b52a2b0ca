package forge

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// gitlab is a merge request on GitLab, through version 4 of its API
// (https://docs.gitlab.com/api/notes/#merge-requests). A job finds out about itself from predefined
// variables (https://docs.gitlab.com/ci/variables/predefined_variables/).
type gitlab struct {
	*client
	// project runs the pipeline, target has the merge request: they differ if it comes from a fork.
	project, target, number, head string
	page                          string
}

func openGitLab(e Environment) (Forge, error) {
	token, err := e.first("GITLAB_TOKEN")
	if err != nil {
		return nil, err // the job's own token may not write notes
	}
	api, err := e.first("CI_API_V4_URL")
	if err != nil {
		return nil, err
	}
	project, err := e.first("CI_PROJECT_ID")
	if err != nil {
		return nil, err
	}
	head := e.Head
	if head == "" { // in a merged results pipeline, CI_COMMIT_SHA is GitLab's merge of both branches
		head = cmp.Or(e.Lookup("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"), e.Lookup("CI_COMMIT_SHA"))
	}
	target := cmp.Or(e.Lookup("CI_MERGE_REQUEST_PROJECT_ID"), project)
	return &gitlab{
		client:  e.client(api, http.Header{"Private-Token": {token}}, token),
		project: "/projects/" + url.PathEscape(project), target: "/projects/" + url.PathEscape(target),
		number: e.number(e.Lookup("CI_MERGE_REQUEST_IID")), head: head,
		page: e.Lookup("CI_MERGE_REQUEST_PROJECT_URL"),
	}, nil
}

type note struct {
	ID     int64  `json:"id"`
	Body   string `json:"body"`
	Author struct {
		Username string `json:"username"`
	} `json:"author"`
}

func (g *gitlab) Author(ctx context.Context) (string, error) {
	var user struct {
		Username string `json:"username"`
	}
	_, err := g.send(ctx, http.MethodGet, "/user", nil, &user)
	return user.Username, err
}

func (g *gitlab) Comments(ctx context.Context) ([]Comment, error) {
	if g.number == "" {
		return nil, errNoPullRequest
	}
	found, err := pages[note](ctx, g.client, g.notes()+"?per_page=100&sort=asc&order_by=created_at")
	if err != nil {
		return nil, err
	}
	var out []Comment
	for _, n := range found {
		out = append(out, Comment{ID: strconv.FormatInt(n.ID, 10), Author: n.Author.Username, Body: n.Body, URL: g.url(n.ID)})
	}
	return out, nil
}

func (g *gitlab) Create(ctx context.Context, body string) (string, error) {
	return g.write(ctx, http.MethodPost, g.notes(), body)
}

func (g *gitlab) Edit(ctx context.Context, id, body string) (string, error) {
	return g.write(ctx, http.MethodPut, g.notes()+"/"+id, body)
}

func (g *gitlab) write(ctx context.Context, method, path, body string) (string, error) {
	var answer note
	if _, err := g.send(ctx, method, path, map[string]string{"body": body}, &answer); err != nil {
		return "", err
	}
	return g.url(answer.ID), nil
}

// Hide does nothing: GitLab cannot fold notes.
func (g *gitlab) Hide(context.Context, Comment) error { return nil }

// Limit returns GitLab's limit for a note.
func (g *gitlab) Limit() int { return 1_000_000 }

// Text returns the Markdown unchanged.
func (g *gitlab) Text(markdown string) string { return markdown }

// Check sets a status on the commit (https://docs.gitlab.com/api/commits/#set-commit-pipeline-status).
func (g *gitlab) Check(ctx context.Context, c Check) (string, error) {
	var answer struct {
		URL string `json:"target_url"`
	}
	_, err := g.send(ctx, http.MethodPost, g.project+"/statuses/"+g.head, map[string]string{
		"state": c.state("failed"), "name": c.Name, "description": c.Title,
	}, &answer)
	return answer.URL, err
}

func (g *gitlab) notes() string { return g.target + "/merge_requests/" + g.number + "/notes" }

func (g *gitlab) url(id int64) string {
	if g.page == "" {
		return ""
	}
	return g.page + "/-/merge_requests/" + g.number + "#note_" + strconv.FormatInt(id, 10)
}
