package forge

import (
	"context"
	"fmt"
	"net/http"
)

// gitea is a pull request on Gitea or Forgejo. Comments work as on GitHub
// (https://docs.gitea.com/api/, "issue"); there are no check runs, only statuses.
type gitea struct{ *github }

func openGitea(e Environment) (Forge, error) {
	token, err := e.first("GITEA_TOKEN", "GITHUB_TOKEN")
	if err != nil {
		return nil, err
	}
	api, err := e.first("GITHUB_API_URL")
	if err != nil {
		return nil, err
	}
	g, err := actions(e, api, http.Header{"Authorization": {"token " + token}}, token)
	if err != nil {
		return nil, err
	}
	g.bot = "gitea-actions"
	return &gitea{g}, nil
}

// approval reads reviews until a page is empty: Gitea has no links to the next one, and may give fewer than asked for
// (go-gitea/gitea, routers/api/v1/repo/pull_review.go, ListPullReviews).
func (g *gitea) approval(ctx context.Context) (Approval, error) {
	var all []review
	for page := range maxPages {
		var found []review
		path := fmt.Sprintf("%s?limit=50&page=%d", g.path("/pulls/"+g.number+"/reviews"), page+1)
		if _, err := g.send(ctx, http.MethodGet, path, nil, &found); err != nil {
			return Approval{}, err
		}
		if len(found) == 0 {
			break
		}
		all = append(all, found...)
	}
	return latest(all), nil
}

// Check sets a status on the commit.
func (g *gitea) Check(ctx context.Context, c Check) (string, error) {
	var answer struct {
		URL string `json:"target_url"`
	}
	_, err := g.send(ctx, http.MethodPost, g.path("/statuses/"+g.head), map[string]string{
		"state": c.state("failure"), "context": c.Name, "description": c.Title,
	}, &answer)
	return answer.URL, err
}
