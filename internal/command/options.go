package command

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

const applyCategory = "Applying"

// fieldManager is Helm 4's, so that a release changes hands without conflicts.
const fieldManager = "helm"

// applyFlags are the flags of everything that writes, with Helm's names.
func applyFlags() []cli.Flag {
	toggle := func(name, usage string, aliases ...string) cli.Flag {
		return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage, Category: applyCategory}
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "wait", Usage: "wait until the objects are ready (true, false, hookOnly)", Category: applyCategory},
		toggle("wait-for-jobs", "with --wait, wait until Jobs are complete"),
		&cli.DurationFlag{Name: "timeout", Usage: "how long a wait or a hook may take", Value: engine.DefaultTimeout, Category: applyCategory},
		&cli.DurationFlag{Name: "overall-timeout", Usage: "how long all of it may take, a rollback that follows apart; 0 is as long as its steps", Category: applyCategory},
		toggle("no-hooks", "do not run hooks"),
		&cli.StringFlag{Name: "description", Usage: "description of the revision", Category: applyCategory},
		&cli.StringFlag{Name: "field-manager", Usage: "owner of the fields that are written", Value: fieldManager, Category: applyCategory},
		&cli.DurationFlag{Name: "lock-timeout", Usage: "how long to queue behind another operation", Category: applyCategory},
		toggle("take-over", "go on although an operation of another tool, or one without a lock, is recorded as pending"),
	}
}

// deployFlags are those of install, upgrade and rollback.
func deployFlags() []cli.Flag {
	toggle := func(name, usage string, aliases ...string) cli.Flag {
		return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage, Category: applyCategory}
	}
	return append(append(applyFlags(), guardFlags()...),
		toggle("atomic", "roll back when it fails; implies --wait", "rollback-on-failure"),
		toggle("cleanup-on-fail", "delete what this run created when it fails"),
		toggle("force", "overwrite changed objects, and delete and create those that can't be changed", "force-replace"),
		toggle("force-conflicts", "take fields from other field managers"),
		&cli.StringFlag{Name: "server-side", Usage: "server-side apply: auto, true or false", Value: "auto", Category: applyCategory},
		toggle("take-ownership", "adopt objects that are in the cluster already"),
		&cli.IntFlag{Name: "history-max", Usage: "revisions to keep; 0 keeps all", Value: 10, EnvVars: []string{"HELM_MAX_HISTORY"}, Category: applyCategory},
		&cli.StringSliceFlag{Name: "labels", Aliases: []string{"l"}, Usage: "`KEY=VALUE` labels of the record, separated by commas", Category: applyCategory},
		toggle("create-namespace", "create the release's namespace when it is not there"),
	)
}

// planFlags say how a plan is shown.
func planFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: oneOf(planOutputs), Value: "text", Category: planCategory},
		&cli.StringFlag{Name: "color", Aliases: []string{"colour"}, Usage: oneOf(choices["color"]), Value: "auto", EnvVars: []string{"HELM_COLOR"}, Category: planCategory},
		&cli.BoolFlag{Name: "full", Usage: "in text: show everything, also the YAML of new objects", Category: planCategory},
		&cli.BoolFlag{Name: "summary", Usage: "in text: show only the header, counts, problems and risks", Category: planCategory},
		&cli.StringSliceFlag{Name: "only", Usage: "in text: show only `KIND/NAME`, or all of a KIND; NAME may have wildcards (repeatable)", Category: planCategory},
		&cli.IntFlag{Name: "context-lines", Aliases: []string{"C"}, Usage: "in text: unchanged `LINES` around a change in a value of several lines", Value: 3, Category: planCategory},
		&cli.StringSliceFlag{Name: "sensitive", Usage: "mask these fields, too: `PATTERN` is PATH or KIND/NAME:PATH or values:PATH (repeatable)", Category: planCategory},
		showSecretsFlag(),
	}, markdownFlags()...)
}

func showSecretsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "show-secrets", Usage: "do not mask secrets", Category: planCategory}
}

const planCategory = "Output"

// options reads the flags that change what happens.
func options(c *cli.Context) (plan.Options, error) {
	wait, err := waits(c.String("wait"))
	if err != nil {
		return plan.Options{}, err
	}
	labels, err := labelPairs(c.StringSlice("labels"))
	if err != nil {
		return plan.Options{}, err
	}
	denied, err := policy(c)
	if err != nil {
		return plan.Options{}, err
	}
	if err := sensitive(c); err != nil {
		return plan.Options{}, err
	}
	atomic := c.Bool("atomic")
	return plan.Options{
		Atomic: atomic, CleanupOnFail: c.Bool("cleanup-on-fail"),
		Wait: wait || atomic, WaitForJobs: c.Bool("wait-for-jobs"),
		Force: c.Bool("force"), ForceConflicts: c.Bool("force-conflicts"), TakeOwnership: c.Bool("take-ownership"),
		TakeOver: c.Bool("take-over"), NoHooks: c.Bool("no-hooks"), SkipCRDs: c.Bool("skip-crds"), UpdateCRDs: c.Bool("update-crds"),
		CreateNamespace: c.Bool("create-namespace"), KeepHistory: c.Bool("keep-history"), Replace: c.Bool("replace"),
		Timeout: c.Duration("timeout"), OverallTimeout: c.Duration("overall-timeout"), HistoryMax: c.Int("history-max"), Cascade: c.String("cascade"),
		Description: c.String("description"), FieldManager: orDefault(c.String("field-manager"), fieldManager), Labels: labels,
		Policy: denied, Sensitive: c.StringSlice("sensitive"),
	}, nil
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// waits reads --wait in the words of Helm 3 and 4.
func waits(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "", "false", "hookonly":
		return false, nil
	case "true", "watcher", "legacy":
		return true, nil
	}
	return false, usage("--wait=%s: it is true, false or hookOnly", text)
}

func serverSide(c *cli.Context) (engine.ServerSide, error) {
	switch s := engine.ServerSide(orDefault(c.String("server-side"), "auto")); s {
	case engine.ServerSideAuto, engine.ServerSideOn, engine.ServerSideOff:
		return s, nil
	default:
		return "", usage("--server-side=%s: it is auto, true or false", s)
	}
}

func labelPairs(given []string) (map[string]string, error) {
	pairs := map[string]string{}
	for _, list := range given {
		for pair := range strings.SplitSeq(list, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || key == "" {
				return nil, usage("--labels %s: labels are written KEY=VALUE", pair)
			}
			if releasestore.Reserved(key) {
				return nil, usage("--labels %s: %q belongs to the record itself", pair, key)
			}
			pairs[key] = value
		}
	}
	return pairs, nil
}

func lockOptions(c *cli.Context) releasestore.LockOptions {
	return releasestore.LockOptions{Wait: c.Duration("lock-timeout")}
}

// joined makes one list of flags; of two with one name the first counts.
func joined(lists ...[]cli.Flag) []cli.Flag {
	seen := map[string]bool{}
	var out []cli.Flag
	for _, list := range lists {
		for _, f := range list {
			if name := f.Names()[0]; !seen[name] {
				seen[name] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// outputFlag is -o for commands that print something to read.
func outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: oneOf(outputs), Value: "text", Category: planCategory}
}

// localTime is how times are printed in tables.
func localTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 -0700 MST")
}
