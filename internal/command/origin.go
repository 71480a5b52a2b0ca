package command

import (
	"os"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/plan"
)

// originOf returns what a saved plan says about where it was made. The variables are documented at
// https://docs.github.com/actions/reference/workflows-and-actions/variables for GitHub, Gitea and
// Forgejo, and at https://docs.gitlab.com/ci/variables/predefined_variables/ for GitLab.
func originOf(commit string, now time.Time) *plan.Origin {
	from := &plan.Origin{Created: now.UTC().Truncate(time.Second)}
	switch {
	case os.Getenv("GITHUB_ACTIONS") != "":
		from.Repository, from.Commit = os.Getenv("GITHUB_REPOSITORY"), os.Getenv("GITHUB_SHA")
		from.Run = os.Getenv("GITHUB_SERVER_URL") + "/" + from.Repository + "/actions/runs/" + os.Getenv("GITHUB_RUN_ID")
		if number, ok := strings.CutPrefix(os.Getenv("GITHUB_REF"), "refs/pull/"); ok {
			from.PullRequest, _, _ = strings.Cut(number, "/")
		}
	case os.Getenv("GITLAB_CI") != "":
		from.Repository, from.Commit = os.Getenv("CI_PROJECT_PATH"), os.Getenv("CI_COMMIT_SHA")
		from.Run, from.PullRequest = os.Getenv("CI_JOB_URL"), os.Getenv("CI_MERGE_REQUEST_IID")
	}
	if commit != "" {
		from.Commit = commit
	}
	return from
}
