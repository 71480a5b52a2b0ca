package apply_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/apply"
)

// logged is a cluster that notes how many lines of a log are asked for; Jobs fail if it says so.
type logged struct {
	failing
	asked *[]int64
}

func (l logged) Logs(_ context.Context, _ apply.Ref, lines int64) (string, error) {
	*l.asked = append(*l.asked, lines)
	return "the log", nil
}

// A log that somebody has asked for is shown as a whole, that of a failure otherwise only its end.
func TestHookLogsAreWholeIfAskedFor(t *testing.T) {
	const withPolicy = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: shop, annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-output-log-policy: 'hook-failed,hook-succeeded'}}\n"
	for name, test := range map[string]struct {
		hook        string
		option, bad bool
		want        []int64
	}{
		"a success":                 {hook: job("a", "pre-upgrade", "")},
		"a failure":                 {hook: job("a", "pre-upgrade", ""), bad: true, want: []int64{20}},
		"a success, by its policy":  {hook: withPolicy, want: []int64{0}},
		"a failure, by its policy":  {hook: withPolicy, bad: true, want: []int64{0}},
		"a success, by the options": {hook: job("a", "pre-upgrade", ""), option: true, want: []int64{0}},
		"a failure, by the options": {hook: job("a", "pre-upgrade", ""), option: true, bad: true, want: []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			p := hooksOnly(t, w, test.hook)
			p.Options.HookLogs = test.option
			l := logged{failing: failing{Cluster: w}, asked: new([]int64)}
			if test.bad {
				l.job = "a"
			}
			env, shown := w.Env(), []apply.Log(nil)
			env.Cluster, env.Observer = l, ear(func(e apply.Event) {
				if e.Type == apply.LogOutput {
					shown = append(shown, e.Log)
				}
			})
			_, err := apply.Run(t.Context(), p, env)
			if (err != nil) != test.bad {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, *l.asked); diff != "" {
				t.Errorf("lines asked for (-want +got):\n%s", diff)
			}
			if want := slices.Repeat([]apply.Log{{Of: "Job/a", Lines: []string{"the log"}}}, len(test.want)); fmt.Sprint(want) != fmt.Sprint(shown) {
				t.Errorf("shown are %v", shown)
			}
		})
	}
}
