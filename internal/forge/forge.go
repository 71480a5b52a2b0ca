// Package forge talks to the forges on which pull requests are reviewed: it keeps one
// comment up to date, and reports a plan as a check on a commit.
//
// Tokens come from the Environment that is passed in, go to the API's own origin and
// nowhere else, and appear in no error. The package makes no plan and prints nothing.
package forge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kinds returns the names of the supported forges.
func Kinds() []string { return []string{"github", "gitlab", "gitea", "bitbucket", "azure"} }

// Comment is a comment on a pull request.
type Comment struct {
	ID, Author, Body, URL string
	// Updated is when it was last written; zero for forges that are not asked.
	Updated time.Time
	// node is GitHub's ID in GraphQL.
	node string
}

// Forge is one pull request, or commit, in a repository.
type Forge interface {
	// Author returns the user as whom the token writes.
	Author(ctx context.Context) (string, error)
	// Comments returns all comments on the pull request, oldest first.
	Comments(ctx context.Context) ([]Comment, error)
	// Create adds a comment to the pull request.
	Create(ctx context.Context, body string) (url string, err error)
	// Edit replaces the body of a comment. A *StatusError with code 404 means that it is gone.
	Edit(ctx context.Context, id, body string) (url string, err error)
	// Hide folds a comment as outdated, where the forge can do that.
	Hide(ctx context.Context, c Comment) error
	// Limit returns how many bytes a comment may have.
	Limit() int
	// Text returns GitHub Flavored Markdown in the form that the forge can show.
	Text(markdown string) string
	// Check reports a plan on the commit.
	Check(ctx context.Context, c Check) (url string, err error)
}

// Environment is what a CI job knows about where it runs.
type Environment struct {
	// Lookup returns the value of an environment variable, "" if it is not set.
	Lookup func(name string) string
	// PullRequest is the number of the pull request; 0 takes it from the variables.
	PullRequest int
	// Head is the planned commit; "" takes it from the variables.
	Head string
	// UserAgent is the User-Agent header of all requests.
	UserAgent string
	// Sleep waits, or returns why it did not.
	Sleep func(context.Context, time.Duration) error
}

// Open returns the forge of one of the Kinds, set up from the variables of its CI system.
// Errors name the variable that is missing.
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
	return nil, fmt.Errorf("%q is not a known forge; the known ones are %s", kind, strings.Join(Kinds(), ", "))
}

// Run returns the number of the CI run, which keeps an older one from overwriting what a newer
// one has written; 0 when it is not known. On GitHub it is the run's ID: GITHUB_RUN_NUMBER counts the runs of
// one workflow, and begins again when its file is renamed.
func (e Environment) Run() int {
	for _, name := range []string{"GITHUB_RUN_ID", "CI_PIPELINE_IID", "BITBUCKET_BUILD_NUMBER", "BUILD_BUILDID"} {
		if n, err := strconv.Atoi(e.Lookup(name)); err == nil {
			return n
		}
	}
	return 0
}

// first returns the first of the variables that is set.
func (e Environment) first(names ...string) (string, error) {
	for _, name := range names {
		if v := strings.TrimSpace(e.Lookup(name)); v != "" {
			return v, nil
		}
	}
	return "", fmt.Errorf("the environment variable %s is not set", strings.Join(names, " or "))
}

// number returns that of the pull request, "" when the job belongs to none.
func (e Environment) number(fallback string) string {
	if e.PullRequest > 0 {
		return strconv.Itoa(e.PullRequest)
	}
	return fallback
}

// client returns a client for the API at base.
func (e Environment) client(base string, header http.Header, token string) *client {
	header.Set("User-Agent", e.UserAgent)
	return &client{base: strings.TrimSuffix(base, "/"), header: header, token: token, sleep: e.Sleep, timeout: requestTimeout}
}
