package completion

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// words of a cluster with two releases, one with two revisions, whose names are not all harmless.
type cluster struct{}

func (cluster) Releases(context.Context) []Candidate {
	return []Candidate{{"web", "web-1.0.0,\tdeployed\nsince today"}, {"worker", ""}, {"w;reboot", ""}, {"$(id)", ""}}
}

func (cluster) Revisions(_ context.Context, release string) []Candidate {
	if release != "web" {
		return nil
	}
	return []Candidate{{"10", "deployed"}, {"9", "superseded"}}
}

func (cluster) Namespaces(context.Context) []Candidate { return []Candidate{{Word: "shop"}} }

func (cluster) Kubeconfig(what string) []Candidate { return []Candidate{{Word: "a-" + what}} }

func (cluster) Settings() []Candidate { return nil }

func (cluster) Values(flag string, l *Line) []string {
	if flag == "output" && l.Command != nil {
		return []string{"text", l.Command.Name}
	}
	return nil
}

func (cluster) Charts() (*source.Sources, error) {
	return &source.Sources{}, nil
}

// A word is offered where the usage line has its place, once, and only if every shell reads it as one plain
// word.
func TestWordsAreOfferedWhereTheyMayStand(t *testing.T) {
	output := &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "how to print"}
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}}, &cli.StringFlag{Name: "context"}},
		Commands: []*cli.Command{
			{Name: "status", Usage: "show it", ArgsUsage: "NAME…", Flags: []cli.Flag{output, &cli.StringFlag{Name: "log", Usage: "a `FILE`"}, &cli.StringFlag{Name: "into", Usage: "a `DIR`"}}},
			{Name: "rollback", Usage: "go back", ArgsUsage: "NAME [REVISION]"},
			{Name: "shell", ArgsUsage: "bash|zsh"},
		},
	}
	for line, want := range map[string]string{
		"s":                       "status|show it shell :4",
		"status ":                 "web|web-1.0.0, deployed worker :4",
		"status web ":             "worker :4",
		"status web wo":           "worker :4",
		"rollback web ":           "10|deployed 9|superseded :36",
		"rollback worker ":        ":4",
		"rollback web 10 ":        ":4",
		"-n ":                     "shop :4",
		"--context=a":             "a-context :4",
		"status -o ":              "text status :4",
		"status --output=s":       "status :4",
		"status --out":            "--output|how to print :4",
		"status -o text --output": ":4",
		"status --log ":           ":0",
		"status --into ":          ":16",
		"status -- -":             ":4",
		"shell z":                 "zsh :4",
	} {
		words, described, ok := Requested(append([]string{"__complete"}, strings.Split(line, " ")...))
		l, err := ParseLine(app, &argv.Rules{}, words)
		if err != nil || !described || !ok {
			t.Errorf("%q: %v; described: %v", line, err, described)
			continue
		}
		var out strings.Builder
		Find(t.Context(), l, cluster{}).Print(&out, described)
		got := strings.Join(strings.Split(strings.ReplaceAll(strings.TrimSpace(out.String()), "\t", "|"), "\n"), " ")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got:\n%s", line, diff)
		}
	}
}

// What is not the hidden first argument of a script is a line to run.
func TestOnlyScriptsAskForWords(t *testing.T) {
	for _, args := range [][]string{nil, {"status", "__complete"}, {"complete"}} {
		if _, _, ok := Requested(args); ok {
			t.Errorf("%q is taken for the request of a script", args)
		}
	}
	words, described, ok := Requested([]string{"__completeNoDesc", "status", ""})
	if !slices.Equal(words, []string{"status", ""}) || described || !ok {
		t.Errorf("%q, described: %v, %v", words, described, ok)
	}
}
