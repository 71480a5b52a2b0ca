package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/internal/forge"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

const forgeCategory = "Forge"

// forgeFlags say which pull request of which forge is meant. Tokens come from the environment only:
// other users of the machine can read command lines.
type forgeFlags struct {
	to, commit  string
	pullRequest int
}

func (o *forgeFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to", Destination: &o.to, Usage: "the `FORGE`: " + oneOf(forge.Kinds()), Category: forgeCategory},
		&cli.IntFlag{Name: "pr", Destination: &o.pullRequest, Usage: "`NUMBER` of the pull request (default: that of the job)", Category: forgeCategory},
		&cli.StringFlag{Name: "commit", Destination: &o.commit, Usage: "`SHA` of the commit that was planned (default: that of the job)", Category: forgeCategory},
	}
}

// tokens is the part of the help about the environment variables that tokens come from.
const tokens = "The token comes from\nGITHUB_TOKEN (or GH_TOKEN), GITLAB_TOKEN, GITEA_TOKEN, BITBUCKET_TOKEN (with BITBUCKET_ACCOUNT,\nan address, when it is an API token) or SYSTEM_ACCESSTOKEN (Azure); everything else comes from\nthe variables of the job."

// open returns the forge that the flags and the job's variables describe.
func (o *forgeFlags) open() (forge.Forge, forge.Environment, error) {
	e := forge.Environment{
		Lookup: os.Getenv, PullRequest: o.pullRequest, Head: o.commit, UserAgent: "kubectl-release/" + Version, Sleep: retry.Pause,
	}
	if o.to == "" {
		return nil, e, usage("--to is required: %s", oneOf(forge.Kinds()))
	}
	if e.Head == "" || e.PullRequest == 0 {
		number, head, err := event(os.Getenv("GITHUB_EVENT_PATH"))
		if err != nil {
			return nil, e, err
		}
		e.PullRequest, e.Head = cmp.Or(e.PullRequest, number), cmp.Or(e.Head, head)
	}
	f, err := forge.Open(o.to, e)
	if err != nil {
		return nil, e, fmt.Errorf("--to %s: %w", o.to, err)
	}
	return f, e, nil
}

// event reads the number and the head commit of the pull request from the event of a job on GitHub
// or Gitea. The job itself has checked out a merge commit, which is not part of the pull request.
func event(file string) (number int, head string, err error) {
	if file == "" {
		return 0, "", nil
	}
	data, err := inputfile.Read(file, inputfile.MaxBytes)
	if err != nil {
		return 0, "", fmt.Errorf("read the job's event: %w", err)
	}
	var said struct {
		PullRequest struct {
			Number int `json:"number"`
			Head   struct {
				SHA string `json:"sha"`
			} `json:"head"`
		} `json:"pull_request"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return 0, "", fmt.Errorf("read the job's event: %w", err)
	}
	return said.PullRequest.Number, said.PullRequest.Head.SHA, nil
}

// forgeError says what a forge has not done. It is not about a cluster, whatever it wraps.
type forgeError struct {
	what string
	err  error
}

func (e *forgeError) Error() string { return e.what + ": " + e.err.Error() }

func (e *forgeError) Unwrap() error { return e.err }

func (p *program) commentCommand() *cli.Command {
	var o struct {
		forge                 forgeFlags
		onlyUpdate, untrusted bool
	}
	return &cli.Command{
		Name: "comment", Usage: "keep a plan's comment on a pull request up to date", ArgsUsage: "FILE",
		Description: describe(`Posts a plan that -o markdown printed to FILE as a comment on the job's pull request, or
edits the comment if it exists: one with the same first line, by the same user. Unchanged
text is not sent again, and an older run does not overwrite a newer one. `+tokens+`
If the token has no permission to comment, that is only a warning.`,
			"kubectl release comment plan.md --to github\nkubectl release comment plan.md --to gitlab --only-update"),
		Flags: append(o.forge.flags(),
			&cli.BoolFlag{Name: "only-update", Destination: &o.onlyUpdate, Usage: "do not create a comment if there is none, as for a plan that changes nothing", Category: forgeCategory},
			&cli.BoolFlag{Name: "untrusted", Destination: &o.untrusted, Usage: "FILE is from a job that others control, such as a fork's: say so first, compare with no approval, and leave alone comments made without this flag", Category: forgeCategory}),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error {
			text, err := p.readFile("FILE", args[0])
			if err != nil {
				return err
			}
			f, e, err := o.forge.open()
			if err != nil {
				return err
			}
			out, err := forge.Put(ctx, f, string(text), forge.CommentOptions{OnlyUpdate: o.onlyUpdate, Untrusted: o.untrusted, Head: e.Head, Run: e.Run()})
			if err != nil {
				return &forgeError{"comment " + args[0], err}
			}
			if out.Done == forge.Forbidden {
				p.warn("the token has no permission to comment here; nothing was sent: " + out.Why)
				return nil
			}
			p.done(string(out.Done), out.URL, out.Why)
			return nil
		})),
	}
}

func (p *program) checkCommand() *cli.Command {
	var o struct {
		forge forgeFlags
		text  string
		name  string
	}
	return &cli.Command{
		Name: "check", Usage: "report a plan as a check on a commit", ArgsUsage: "FILE",
		Description: describe(`Creates a check run (GitHub) or a status (elsewhere) from a plan that -o sarif printed to
FILE: a failure if the plan is blocked, else a success, with a summary on GitHub and, there and
on Bitbucket, an annotation at each line. `+tokens,
			"kubectl release check plan.sarif --to github --text plan.md"),
		Flags: append(o.forge.flags(),
			&cli.StringFlag{Name: "text", Destination: &o.text, Usage: "Markdown `FILE` that the check shows, such as the comment's", Category: forgeCategory},
			&cli.StringFlag{Name: "name", Destination: &o.name, Usage: "`NAME` of the check (default: plan of what was planned)", Category: forgeCategory}),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error {
			data, err := p.readFile("FILE", args[0])
			if err != nil {
				return err
			}
			said, err := findings.ReadSARIF(data)
			if err != nil {
				return fmt.Errorf("check %s: %w", args[0], err)
			}
			c := forge.Check{Name: cmp.Or(o.name, "plan of "+said.Set), Title: said.Verdict, Blocked: said.Blocked, Digest: said.Digest, Text: said.Verdict, Findings: said.Findings}
			if o.text != "" {
				text, err := p.readFile("--text", o.text)
				if err != nil {
					return fmt.Errorf("--text: %w", err)
				}
				c.Text = string(text)
			}
			f, _, err := o.forge.open()
			if err != nil {
				return err
			}
			url, err := f.Check(ctx, c)
			if err != nil {
				return &forgeError{"check " + args[0], err}
			}
			p.done("checked", url, "")
			return nil
		})),
	}
}

// done prints what was done, and the URL where it can be seen: "edited https://…".
func (p *program) done(what, url, why string) {
	if why != "" {
		why = "(" + why + ")"
	}
	fmt.Fprintln(p.streams.Out, strings.Join(strings.Fields(what+" "+url+" "+why), " "))
}
