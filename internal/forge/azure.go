package forge

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// azure is a pull request on Azure DevOps, through version 7.1 of its API. A comment is the first
// of a thread (https://learn.microsoft.com/rest/api/azure/devops/git/pull-request-threads).
// A job finds out about itself from predefined variables
// (https://learn.microsoft.com/azure/devops/pipelines/build/variables).
type azure struct {
	*client
	repository, number, page string
}

const azureVersion = "?api-version=7.1"

func openAzure(e Environment) (Forge, error) {
	values := map[string]string{}
	for _, name := range []string{"SYSTEM_ACCESSTOKEN", "SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECTID", "BUILD_REPOSITORY_ID"} {
		value, err := e.first(name)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	token, collection := values["SYSTEM_ACCESSTOKEN"], strings.TrimSuffix(values["SYSTEM_COLLECTIONURI"], "/")
	project, repository := url.PathEscape(values["SYSTEM_TEAMPROJECTID"]), url.PathEscape(values["BUILD_REPOSITORY_ID"])
	number := e.number(e.Lookup("SYSTEM_PULLREQUEST_PULLREQUESTID"))
	return &azure{
		client:     e.client(collection, http.Header{"Authorization": {"Bearer " + token}}, token),
		repository: "/" + project + "/_apis/git/repositories/" + repository + "/pullRequests/" + number, number: number,
		page: collection + "/" + project + "/_git/" + repository + "/pullrequest/" + number,
	}, nil
}

type azureThread struct {
	ID        int64          `json:"id"`
	IsDeleted bool           `json:"isDeleted"`
	Comments  []azureComment `json:"comments"`
}

type azureComment struct {
	ID        int64  `json:"id"`
	Content   string `json:"content"`
	IsDeleted bool   `json:"isDeleted"`
	Author    struct {
		ID string `json:"id"`
	} `json:"author"`
}

// Author returns the user of the connection. The API's reference does not document this call, but
// its clients make it (getConnectionData of https://github.com/microsoft/azure-devops-node-api).
func (a *azure) Author(ctx context.Context) (string, error) {
	var data struct {
		User struct {
			ID string `json:"id"`
		} `json:"authenticatedUser"`
	}
	_, err := a.send(ctx, http.MethodGet, "/_apis/connectionData"+azureVersion+"-preview", nil, &data)
	return data.User.ID, err
}

// Comments returns the first comment of each thread. The list is not paginated.
func (a *azure) Comments(ctx context.Context) ([]Comment, error) {
	if a.number == "" {
		return nil, errNoPullRequest
	}
	var list struct {
		Value []azureThread `json:"value"`
	}
	if _, err := a.send(ctx, http.MethodGet, a.repository+"/threads"+azureVersion, nil, &list); err != nil {
		return nil, err
	}
	var out []Comment
	for _, t := range list.Value {
		if t.IsDeleted || len(t.Comments) == 0 || t.Comments[0].IsDeleted {
			continue
		}
		first := t.Comments[0]
		id := strconv.FormatInt(t.ID, 10) + "/comments/" + strconv.FormatInt(first.ID, 10)
		out = append(out, Comment{ID: id, Author: first.Author.ID, Body: first.Content, URL: a.url(t.ID)})
	}
	return out, nil
}

// Create starts a thread that is already closed, so nobody has to resolve it before the merge.
func (a *azure) Create(ctx context.Context, body string) (string, error) {
	var made azureThread
	_, err := a.send(ctx, http.MethodPost, a.repository+"/threads"+azureVersion, map[string]any{
		"status": "closed", "comments": []map[string]any{{"parentCommentId": 0, "commentType": "text", "content": body}},
	}, &made)
	return a.url(made.ID), err
}

func (a *azure) Edit(ctx context.Context, id, body string) (string, error) {
	_, err := a.send(ctx, http.MethodPatch, a.repository+"/threads/"+id+azureVersion, map[string]string{"content": body}, nil)
	thread, _, _ := strings.Cut(id, "/")
	n, _ := strconv.ParseInt(thread, 10, 64) // the ID is one that Comments has returned
	return a.url(n), err
}

// Hide does nothing: the other threads are closed already.
func (a *azure) Hide(context.Context, Comment) error { return nil }

// Limit returns how many characters are said to fit; the API's reference names no limit, and a
// body that is refused as too long is sent again at half its length.
func (a *azure) Limit() int { return 150_000 }

// Text returns the Markdown unchanged.
func (a *azure) Text(markdown string) string { return markdown }

// Check sets a status on the pull request, which a branch policy can require
// (https://learn.microsoft.com/rest/api/azure/devops/git/pull-request-statuses/create).
func (a *azure) Check(ctx context.Context, c Check) (string, error) {
	if a.number == "" {
		return "", errNoPullRequest
	}
	state := "succeeded"
	if c.Blocked {
		state = "failed"
	}
	var answer struct {
		URL string `json:"targetUrl"`
	}
	_, err := a.send(ctx, http.MethodPost, a.repository+"/statuses"+azureVersion, map[string]any{
		"state": state, "description": c.Title, "context": map[string]string{"genre": "kubectl-release", "name": c.Name},
	}, &answer)
	return cmp.Or(answer.URL, a.page), err
}

func (a *azure) url(thread int64) string {
	return a.page + "?discussionId=" + strconv.FormatInt(thread, 10)
}
