package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// applyManyFlags are the flags of apply many.
type applyManyFlags struct {
	show      showFlags
	files     planFileFlags
	approval  approvalFlags
	parallel  int
	keepGoing bool
	lock      releasestore.LockOptions
}

func (p *program) applyManyCommand() *cli.Command {
	var o applyManyFlags
	return &cli.Command{
		Name: "many", Usage: "apply a saved set of plans", ArgsUsage: "DIR",
		Description: describe(`Does exactly what the plans say that plan many saved in the folder DIR or in one file. All
of them are checked before the first write; if one no longer holds, nothing is written
(exit 4). Releases are applied after those they need; if one fails, no others are started.`,
			"kubectl release apply many plans\nkubectl release apply many plans --expect-digest sha256:9f2c… --keep-going\nkubectl release apply many plans --allowed-signers allowed_signers --max-age 24h"),
		Flags: joined([]cli.Flag{
			&cli.IntFlag{Name: "parallel", Destination: &o.parallel, Usage: "how many releases to apply in parallel", Value: 4, Category: setCategory},
			&cli.BoolFlag{Name: "keep-going", Destination: &o.keepGoing, Usage: "after a failure, continue with releases that do not need a failed one", Category: setCategory},
			&cli.StringFlag{Name: "output", Destination: &o.show.output, Aliases: []string{"o"}, Usage: "text or json (one event per line while it runs; see docs/events.md)", Value: "text", Category: planCategory},
			&cli.DurationFlag{Name: "lock-timeout", Destination: &o.lock.Wait, Usage: "how long to queue behind another operation", Category: applyCategory},
			showSecretsFlag(&p.showSecrets),
		}, o.files.opening(), o.approval.flagsFor("DIR", "set", "DIR/set.json")),
		Action: takes(1, 1, func(ctx context.Context, args []string) error {
			if err := p.calledMany(args); err != nil {
				return err
			}
			return p.applyMany(ctx, &o, args[0])
		}),
	}
}

// applyMany checks and applies a set, and reports the result.
func (p *program) applyMany(ctx context.Context, o *applyManyFlags, dir string) error {
	if o.show.output != "text" && o.show.output != "json" {
		return usage("-o %s: must be text or json", o.show.output)
	}
	if err := o.approval.check(); err != nil {
		return err
	}
	kept, err := setrun.OpenKept(dir)
	if err != nil {
		return err
	}
	saved, err := unlessStopped(ctx, func() (*setrun.Saved, error) { // it may ask for a passphrase
		return setrun.OpenSaved(kept, p.keys(&o.files))
	})
	if err != nil {
		return err
	}
	if o.approval.signers != "" {
		if err := o.approval.allowed().Check(setrun.IndexName, kept.Read, saved.Digest, report.SetStatementPredicate, time.Now()); err != nil {
			return err
		}
	}
	err = o.approval.matches(dir, "set", saved.Digest)
	if err == nil {
		err = o.approval.allows(dir, saved.Origin, time.Now())
	}
	if err != nil {
		return err
	}
	runs := &setRuns{program: p, show: &o.show, saved: saved, clusters: p.manyClusters(false)}
	applier := setrun.Applier{Saved: saved, Runner: runs.runner, Parallel: o.parallel, KeepGoing: o.keepGoing, Lock: o.lock}
	if err := applier.Check(ctx); err != nil {
		return err
	}
	runs.begun = true
	done, err := applier.Run(ctx)
	if err != nil {
		return err
	}
	runs.endLocked(done)
	if o.show.output == "json" {
		runs.tellSkipped(done)
	} else {
		p.setResult(done)
	}
	return setFailure(done)
}

// setRuns are the runs of the releases in a set, each with its own output.
type setRuns struct {
	program  *program
	show     *showFlags
	saved    *setrun.Saved
	clusters *manyClusters
	// begun is set while the set is applied, not just checked.
	begun bool
	// out is locked while a line is printed.
	out sync.Mutex
	// locked end the output of the releases that other runs had locked; mu guards it.
	mu     sync.Mutex
	locked []func(partly bool)
}

// runner is the Runner of setrun.Applier.
func (r *setRuns) runner(key releaseset.Key, made *plan.Plan) (*engine.Engine, func(apply.Outcome, error), error) {
	cluster, known := r.saved.Clusters[key.Cluster]
	if key.Cluster != "" && !known {
		return nil, nil, fmt.Errorf("the set does not say what cluster %s is: plan it again", key.Cluster)
	}
	asked, err := r.clusters.Engine(key.Cluster, cluster, "")
	if err != nil || !r.begun {
		return asked, func(apply.Outcome, error) {}, err
	}
	run := r.of(key)
	run.hide(made)
	if err := run.presenter.plan(made, brief); err != nil {
		return nil, nil, err
	}
	r.program.underway.also(run)
	run.underway.begin(made)
	watched := run.presenter.watcher()
	own := *asked
	own.Observer, own.Invocation = run.underway.heard(watched), run.invocation
	own.Identity = releasestore.NewIdentity(runText()) // two contexts may be of one cluster: the lock separates their runs
	end := func(how ending) {
		if s, ok := run.presenter.(*stream); ok {
			s.close(context.Background(), how)
		} else if how.err != nil {
			run.tell(how.err)
		}
	}
	return &own, func(outcome apply.Outcome, err error) {
		watched.Stop()
		run.underway.over()
		how := ending{made: made, outcome: outcome, err: err}
		how.err = how.explained()
		if exitCode(err) != exitLocked {
			end(how)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.locked = append(r.locked, func(partly bool) {
			run.partly = partly
			end(how)
		})
	}, nil
}

// endLocked ends the output of the releases that were locked: what to do about that depends on whether
// other releases were written.
func (r *setRuns) endLocked(done []setrun.Applied) {
	partly := slices.ContainsFunc(done, func(d setrun.Applied) bool {
		code := exitCode(d.Err)
		return d.Skipped == "" && code != exitLocked && code != exitStale
	})
	for _, end := range r.locked {
		end(partly)
	}
}

// of returns a copy of the program for one release, whose output is prefixed with the release's
// name.
func (r *setRuns) of(key releaseset.Key) *program {
	out := newProgram(Streams{
		In: r.program.raw.In, Out: &lineWriter{to: r.program.raw.Out, lock: &r.out},
		Err: &lineWriter{to: r.program.streams.Err, lock: &r.out, prefix: key.String() + "  "},
	}, r.program.invocation.Program)
	cluster := r.saved.Clusters[key.Cluster]
	out.invocation, out.commandLine = r.program.invocation.In(key.Namespace).Using(cluster.Context), r.program.commandLine
	out.flags, out.showSecrets = r.program.flags, r.program.showSecrets
	out.presenter = textPresenter{out, r.show}
	if r.show.output == "json" {
		s := newStream(out, r.show)
		s.key = &key
		out.presenter = s
		s.begin()
	}
	return out
}

// tellSkipped reports the releases that were not begun as warnings in the event stream.
func (r *setRuns) tellSkipped(done []setrun.Applied) {
	for _, d := range done {
		if d.Skipped != "" {
			r.of(d.Key).presenter.warning("not started: " + d.Skipped)
		}
	}
}

// lineWriter writes whole lines, each with a prefix, to a stream that it shares with other writers.
type lineWriter struct {
	to     io.Writer
	lock   *sync.Mutex
	prefix string
	rest   []byte
}

// Write implements io.Writer.
func (w *lineWriter) Write(text []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	all := append(w.rest, text...)
	end := bytes.LastIndexByte(all, '\n') + 1
	w.rest = bytes.Clone(all[end:])
	if w.prefix == "" {
		_, err := w.to.Write(all[:end])
		return len(text), err
	}
	for line := range bytes.Lines(all[:end]) {
		if _, err := io.WriteString(w.to, w.prefix+string(line)); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// setResult prints the table at the end of apply many.
func (p *program) setResult(done []setrun.Applied) {
	width := 0
	for _, d := range done {
		width = max(width, len(d.Key.String()))
	}
	if len(done) == 0 {
		fmt.Fprintln(p.streams.Out, "There is nothing to do.")
	}
	for _, d := range done {
		fmt.Fprintf(p.streams.Out, "%-*s  %s\n", width, d.Key.String(), resultOf(d))
	}
}

// resultOf says in a few words how the run of a release ended.
func resultOf(d setrun.Applied) string {
	var back *engine.RolledBackError
	switch {
	case d.Skipped != "":
		return "not started: " + d.Skipped
	case errors.As(d.Err, &back) && back.Rollback != nil:
		return "failed, and so did the rollback"
	case errors.As(d.Err, &back):
		return "failed and was rolled back"
	case exitCode(d.Err) == exitStale:
		return "stale: not applied"
	case exitCode(d.Err) == exitLocked:
		return "locked by another run: not applied"
	case d.Err != nil:
		return "failed"
	case d.Plan.Operation == plan.Uninstall:
		return "uninstalled"
	}
	return fmt.Sprintf("%s, revision %d", d.Plan.Operation, d.Plan.ToRevision)
}

// setFailure returns the exit code of a set, that of its most serious error, or nil if all went
// well.
func setFailure(done []setrun.Applied) error {
	code := exitDone
	for _, severe := range []int{exitRollbackFailed, exitRolledBack, exitLocked, exitStale, exitError} {
		if slices.ContainsFunc(done, func(d setrun.Applied) bool { return d.Err != nil && exitCode(d.Err) == severe }) {
			code = severe
			break
		}
	}
	if code == exitDone && slices.ContainsFunc(done, func(d setrun.Applied) bool { return d.Skipped != "" || d.Err != nil }) {
		code = exitError
	}
	if code == exitDone {
		return nil
	}
	return codeError(code)
}
