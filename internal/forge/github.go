package forge

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// github is a pull request on GitHub, through version 2022-11-28 of its REST API
// (https://docs.github.com/rest/issues/comments), and GraphQL to hide comments, which REST can't.
type github struct {
	*client
	repository, number, head string
	graphQL                  string
	// bot is the user as whom a job's own token writes.
	bot string
}

func openGitHub(e Environment) (Forge, error) {
	token, err := e.first("GITHUB_TOKEN", "GH_TOKEN")
	if err != nil {
		return nil, err
	}
	header := http.Header{"Authorization": {"Bearer " + token}, "Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	g, err := actions(e, "https://api.github.com", header, token)
	if err != nil {
		return nil, err
	}
	g.bot = "github-actions[bot]"
	g.graphQL = e.Lookup("GITHUB_GRAPHQL_URL")
	if g.graphQL == "" {
		g.graphQL = strings.TrimSuffix(g.base, "/v3") + "/graphql" // on GitHub Enterprise Server and github.com
	}
	return g, nil
}

// actions returns the pull request that the variables of GitHub Actions, or Gitea's, describe.
func actions(e Environment, api string, header http.Header, token string) (*github, error) {
	repository, err := e.first("GITHUB_REPOSITORY")
	if err != nil {
		return nil, err
	}
	if found := e.Lookup("GITHUB_API_URL"); found != "" {
		api = found
	}
	number := ""
	if rest, ok := strings.CutPrefix(e.Lookup("GITHUB_REF"), "refs/pull/"); ok {
		number, _, _ = strings.Cut(rest, "/")
	}
	head := e.Head
	if head == "" {
		head = e.Lookup("GITHUB_SHA")
	}
	return &github{client: e.client(api, header, token), repository: repository, number: e.number(number), head: head}, nil
}

type issueComment struct {
	ID   int64  `json:"id"`
	Node string `json:"node_id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
	Updated time.Time `json:"updated_at"`
}

func (g *github) Author(ctx context.Context) (string, error) {
	var user struct {
		Login string `json:"login"`
	}
	_, err := g.send(ctx, http.MethodGet, "/user", nil, &user)
	if c := code(err); c == http.StatusForbidden || c == http.StatusUnauthorized {
		return g.viewer(ctx)
	}
	return user.Login, err
}

// viewer returns the user of a token that may not read /user, such as a GitHub App's or a job's
// own, from GraphQL (https://docs.github.com/graphql/reference/queries#viewer); bot if that does
// not say. Errors: it can't be reached; to take bot for an App would make a second comment.
func (g *github) viewer(ctx context.Context) (string, error) {
	var answer struct {
		Data struct {
			Viewer struct {
				Login string `json:"login"`
			} `json:"viewer"`
		} `json:"data"`
	}
	if g.graphQL != "" {
		if err := g.query(ctx, g.graphQL, "query { viewer { login } }", &answer); passes(err) {
			return "", err
		}
	}
	login := answer.Data.Viewer.Login
	if login == "" {
		return g.bot, nil
	}
	const suffix = "[bot]" // REST always has it; in other fields, GraphQL leaves it out
	return strings.TrimSuffix(login, suffix) + suffix, nil
}

// passes reports whether an error is the server's or the network's.
func passes(err error) bool {
	return err != nil && (code(err) == 0 || code(err) >= http.StatusInternalServerError) && !errors.Is(err, errElsewhere)
}

func (g *github) Comments(ctx context.Context) ([]Comment, error) {
	if g.number == "" {
		return nil, errNoPullRequest
	}
	found, err := pages[issueComment](ctx, g.client, g.path("/issues/"+g.number+"/comments?per_page=100"))
	if err != nil {
		return nil, err
	}
	var out []Comment
	for _, c := range found {
		out = append(out, Comment{ID: strconv.FormatInt(c.ID, 10), Author: c.User.Login, Body: c.Body, URL: c.URL, Updated: c.Updated, node: c.Node})
	}
	return out, nil
}

func (g *github) Create(ctx context.Context, body string) (string, error) {
	return g.write(ctx, http.MethodPost, g.path("/issues/"+g.number+"/comments"), body)
}

func (g *github) Edit(ctx context.Context, id, body string) (string, error) {
	return g.write(ctx, http.MethodPatch, g.path("/issues/comments/"+id), body)
}

func (g *github) write(ctx context.Context, method, path, body string) (string, error) {
	var answer issueComment
	_, err := g.send(ctx, method, path, map[string]string{"body": body}, &answer)
	return answer.URL, err
}

// Hide folds a comment as outdated
// (https://docs.github.com/graphql/reference/mutations#minimizecomment).
func (g *github) Hide(ctx context.Context, c Comment) error {
	if g.graphQL == "" {
		return nil
	}
	const mutation = `mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } } }`
	_, err := g.send(ctx, http.MethodPost, g.graphQL, map[string]any{"query": mutation, "variables": map[string]string{"id": c.node}}, nil)
	return err
}

// Limit stays a little below the 65,536 characters that GitHub accepts.
func (g *github) Limit() int { return 65500 }

// Text returns the Markdown unchanged.
func (g *github) Text(markdown string) string { return markdown }

func (g *github) path(rest string) string { return "/repos/" + g.repository + rest }
