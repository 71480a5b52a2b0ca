// Package forge speaks to the forges on which pull requests are reviewed: it keeps one
// comment up to date, and tells of a plan as a check of a commit.
//
// Tokens come from the environment that it is handed, go to the API's own origin and
// nowhere else, and are in no error. It makes no plan and prints nothing.
package forge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kinds are the forges that are known.
func Kinds() []string { return []string{"github", "gitlab", "gitea", "bitbucket", "azure"} }

// Comment is a comment on a pull request.
type Comment struct {
	ID, Author, Body, URL string
	// Updated is when it was last written; zero where the forge is not asked.
	Updated time.Time
	// node is GitHub's ID in GraphQL.
	node string
}

// Forge is one pull request, or commit, of a repository.
type Forge interface {
	// Author is as whom the token writes.
	Author(ctx context.Context) (string, error)
	// Comments are all of the pull request, the oldest first.
	Comments(ctx context.Context) ([]Comment, error)
	Create(ctx context.Context, body string) (url string, err error)
	// Edit gives a comment another body. A *StatusError of 404: it is gone.
	Edit(ctx context.Context, id, body string) (url string, err error)
	// Hide folds a comment as outdated, where the forge can do that.
	Hide(ctx context.Context, c Comment) error
	// Limit is how many bytes a comment may have.
	Limit() int
	// Text is Markdown of GitHub's sort as the forge can show it.
	Text(markdown string) string
	// Check tells of a plan at the commit.
	Check(ctx context.Context, c Check) (url string, err error)
}

// Environment is what a job knows of where it runs.
type Environment struct {
	// Lookup is that of a variable: "" when it is not set.
	Lookup func(name string) string
	// PullRequest is the number of the pull request; 0 takes it from the variables.
	PullRequest int
	// Head is the commit that is looked at; "" takes it from the variables.
	Head string
	// UserAgent is how the program calls itself.
	UserAgent string
	// Sleep waits, or says why it did not.
	Sleep func(context.Context, time.Duration) error
}

// Open is the forge of one of the Kinds, by what its CI system says in variables. Errors
// name the variable that is missing.
func Open(kind string, e Environment) (Forge, error) {
	switch kind {
	case "github":
		return openGitHub(e)
	case "gitea":
		return openGitea(e)
	case "gitlab":
		return openGitLab(e)
	case "bitbucket":
		return openBitbucket(e)
	case "azure":
		return openAzure(e)
	}
	return nil, fmt.Errorf("%q is no forge that is known: it is %s", kind, strings.Join(Kinds(), ", "))
}

// Run is the number of the run, by which an older one does not overwrite what a newer one
// has written; 0 when it is not known.
func (e Environment) Run() int {
	for _, name := range []string{"GITHUB_RUN_NUMBER", "CI_PIPELINE_IID", "BITBUCKET_BUILD_NUMBER", "BUILD_BUILDID"} {
		if n, err := strconv.Atoi(e.Lookup(name)); err == nil {
			return n
		}
	}
	return 0
}

// first is the first of the variables that is set.
func (e Environment) first(names ...string) (string, error) {
	for _, name := range names {
		if v := strings.TrimSpace(e.Lookup(name)); v != "" {
			return v, nil
		}
	}
	return "", fmt.Errorf("the environment variable %s is not set", strings.Join(names, " or "))
}

// number is the pull request's, "" when the job is of none.
func (e Environment) number(fallback string) string {
	if e.PullRequest > 0 {
		return strconv.Itoa(e.PullRequest)
	}
	return fallback
}

// client is one for an API at an address.
func (e Environment) client(base string, header http.Header, token string) *client {
	header.Set("User-Agent", e.UserAgent)
	return &client{base: strings.TrimSuffix(base, "/"), header: header, token: token, sleep: e.Sleep, timeout: requestTimeout}
}
