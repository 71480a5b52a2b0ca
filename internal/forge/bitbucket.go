package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
)

// bitbucket is a pull request on Bitbucket Cloud, through version 2.0 of its API
// (https://developer.atlassian.com/cloud/bitbucket/rest/api-group-pullrequests/).
type bitbucket struct {
	*client
	repository, number, head, branch string
	page                             string
}

func openBitbucket(e Environment) (Forge, error) {
	token, err := e.first("BITBUCKET_TOKEN")
	if err != nil {
		return nil, err
	}
	workspace, err := e.first("BITBUCKET_WORKSPACE")
	if err != nil {
		return nil, err
	}
	slug, err := e.first("BITBUCKET_REPO_SLUG")
	if err != nil {
		return nil, err
	}
	authorization := "Bearer " + token
	if account := e.Lookup("BITBUCKET_ACCOUNT"); account != "" { // an API token, with the account's address
		authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(account+":"+token))
	}
	repository := url.PathEscape(workspace) + "/" + url.PathEscape(slug)
	number := e.number(e.Lookup("BITBUCKET_PR_ID"))
	return &bitbucket{
		client:     e.client(cmp.Or(e.Lookup("BITBUCKET_API_URL"), "https://api.bitbucket.org/2.0"), http.Header{"Authorization": {authorization}}, token),
		repository: "/repositories/" + repository, number: number, head: cmp.Or(e.Head, e.Lookup("BITBUCKET_COMMIT")), branch: e.Lookup("BITBUCKET_BRANCH"),
		page: "https://bitbucket.org/" + repository + "/pull-requests/" + number,
	}, nil
}

type bitbucketComment struct {
	ID      int64 `json:"id"`
	Deleted bool  `json:"deleted"`
	Content struct {
		Raw string `json:"raw"`
	} `json:"content"`
	User struct {
		UUID string `json:"uuid"`
	} `json:"user"`
	Links struct {
		HTML struct {
			Href string `json:"href"`
		} `json:"html"`
	} `json:"links"`
}

// Author returns the token's account, which the token must be allowed to read.
func (b *bitbucket) Author(ctx context.Context) (string, error) {
	var user struct {
		UUID string `json:"uuid"`
	}
	_, err := b.send(ctx, http.MethodGet, "/user", nil, &user)
	return user.UUID, err
}

func (b *bitbucket) Comments(ctx context.Context) ([]Comment, error) {
	if b.number == "" {
		return nil, errNoPullRequest
	}
	var out []Comment
	path := b.comments() + "?pagelen=100"
	for range maxPages {
		var page struct {
			Values []bitbucketComment `json:"values"`
			Next   string             `json:"next"`
		}
		if _, err := b.send(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		for _, c := range page.Values {
			if !c.Deleted {
				out = append(out, Comment{ID: strconv.FormatInt(c.ID, 10), Author: c.User.UUID, Body: fromBitbucket(c.Content.Raw), URL: c.Links.HTML.Href})
			}
		}
		if path = page.Next; path == "" {
			break
		}
	}
	return out, nil
}

func (b *bitbucket) Create(ctx context.Context, body string) (string, error) {
	return b.write(ctx, http.MethodPost, b.comments(), body)
}

func (b *bitbucket) Edit(ctx context.Context, id, body string) (string, error) {
	return b.write(ctx, http.MethodPut, b.comments()+"/"+id, body)
}

func (b *bitbucket) write(ctx context.Context, method, path, body string) (string, error) {
	var answer bitbucketComment
	_, err := b.send(ctx, method, path, map[string]any{"content": map[string]string{"raw": toBitbucket(body)}}, &answer)
	return answer.Links.HTML.Href, err
}

// Hide does nothing: Bitbucket cannot fold comments.
func (b *bitbucket) Hide(context.Context, Comment) error { return nil }

// Limit stays a little below the 32,768 characters that Bitbucket accepts
// (https://github.com/runatlantis/atlantis/issues/280), as markers are longer there.
func (b *bitbucket) Limit() int { return 32000 }

// Text returns the Markdown without HTML, which Bitbucket would show as source
// (https://support.atlassian.com/bitbucket-cloud/docs/markup-comments/).
func (b *bitbucket) Text(markdown string) string { return withoutHTML(markdown) }

// Check sets a build status on the commit
// (https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/), and creates its
// report. Those with the same key are overwritten.
func (b *bitbucket) Check(ctx context.Context, c Check) (string, error) {
	state := "SUCCESSFUL"
	if c.Blocked {
		state = "FAILED"
	}
	const characters = 12
	sum := sha256.Sum256([]byte(c.Name))
	key := "kubectl-release-" + hex.EncodeToString(sum[:])[:characters]
	status := map[string]string{
		"key": key, "name": c.Name, "state": state, "description": c.Title, "url": b.page,
	}
	if b.branch != "" { // by which Bitbucket finds the pull request
		status["refname"] = b.branch
	}
	if _, err := b.send(ctx, http.MethodPost, b.repository+"/commit/"+b.head+"/statuses/build", status, nil); err != nil {
		return "", err
	}
	return b.page, b.report(ctx, key, c)
}

func (b *bitbucket) comments() string {
	return b.repository + "/pullrequests/" + b.number + "/comments"
}
