package command

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

const applyCategory = "Applying"

// planningFlags are the flags of commands that plan: how to plan, and how to show the plan.
type planningFlags struct {
	options optionFlags
	show    showFlags
}

// optionFlags say how a plan is made and applied. Each command declares those that it uses.
type optionFlags struct {
	plan.Options           // options whose flags need no parsing
	wait, serverSide       string
	labels, deny, policies cli.StringSlice
	lock                   releasestore.LockOptions
}

// applying returns the flags of every command that writes, with Helm's names.
func (o *optionFlags) applying() []cli.Flag {
	return []cli.Flag{
		notEmpty(&cli.StringFlag{Name: "wait", Destination: &o.wait, Usage: "wait until the objects are ready (true, false, hookOnly)", Category: applyCategory}),
		applyToggle("wait-for-jobs", &o.WaitForJobs, "with --wait, also wait until Jobs are complete"),
		&cli.DurationFlag{Name: "timeout", Destination: &o.Timeout, Usage: "how long a wait or a hook may take", Value: plan.DefaultTimeout, Category: applyCategory},
		&cli.DurationFlag{Name: "overall-timeout", Destination: &o.OverallTimeout, Usage: "how long the whole run may take, not counting a rollback; 0 sets no limit beyond that of its steps", Category: applyCategory},
		applyToggle("no-hooks", &o.NoHooks, "do not run hooks"),
		&cli.StringFlag{Name: "description", Destination: &o.Description, Usage: "description of the revision", Category: applyCategory},
		&cli.StringFlag{Name: "field-manager", Destination: &o.FieldManager, Usage: "field manager of the fields that are written", Value: plan.FieldManager, Category: applyCategory},
		&cli.DurationFlag{Name: "lock-timeout", Destination: &o.lock.Wait, Usage: "how long to queue behind another operation", Category: applyCategory},
		applyToggle("take-over", &o.TakeOver, "go ahead even if an operation of another tool, or one without a lock, is recorded as pending"),
	}
}

func applyToggle(name string, to *bool, usage string, aliases ...string) cli.Flag {
	return &cli.BoolFlag{Name: name, Destination: to, Aliases: aliases, Usage: usage, Category: applyCategory}
}

// deploying returns the flags of install, upgrade and rollback.
func (o *optionFlags) deploying() []cli.Flag {
	return joined(o.applying(), o.guarding(), []cli.Flag{
		applyToggle("atomic", &o.Atomic, "roll back if it fails, or uninstall a failed install; implies --wait", "rollback-on-failure"),
		applyToggle("cleanup-on-fail", &o.CleanupOnFail, "delete what this run created if it fails"),
		applyToggle("force", &o.Force, "overwrite changed objects, and delete and create those that can't be changed", "force-replace"),
		applyToggle("force-conflicts", &o.ForceConflicts, "take fields from other field managers"),
		notEmpty(&cli.StringFlag{Name: "server-side", Destination: &o.serverSide, Usage: "server-side apply: auto, true or false", Value: "auto", Category: applyCategory}),
		applyToggle("take-ownership", &o.TakeOwnership, "adopt objects that already exist in the cluster"),
		&cli.IntFlag{Name: "history-max", Destination: &o.HistoryMax, Usage: "revisions to keep; 0 keeps all", Value: 10, EnvVars: readable("HELM_MAX_HISTORY", strconv.Atoi), Category: applyCategory},
		&cli.StringSliceFlag{Name: "labels", Destination: &o.labels, Aliases: []string{"l"}, Usage: "`KEY=VALUE` labels of the record, separated by commas", Category: applyCategory},
		applyToggle("create-namespace", &o.CreateNamespace, "create the release's namespace if it does not exist"),
	})
}

// uninstalling returns the flags of uninstall.
func (o *optionFlags) uninstalling() []cli.Flag {
	return joined(o.applying(), o.guarding(), []cli.Flag{
		applyToggle("keep-history", &o.KeepHistory, "keep the records, marked as uninstalled"),
		&cli.StringFlag{Name: "cascade", Destination: &o.Cascade, Usage: oneOf(choices["cascade"]), Value: "background", Category: applyCategory},
	})
}

// planOptions checks the flags and returns the options they describe.
func (o *planningFlags) planOptions() (plan.Options, error) {
	out := o.options.Options
	wait, err := waits(o.options.wait)
	if err != nil {
		return plan.Options{}, err
	}
	if out.Labels, err = labelPairs(o.options.labels.Value()); err != nil {
		return plan.Options{}, err
	}
	if out.Policy, err = o.options.policy(); err != nil {
		return plan.Options{}, err
	}
	if out.Sensitive, err = o.show.patterns(); err != nil {
		return plan.Options{}, err
	}
	out.Wait = wait || out.Atomic
	out.FieldManager = cmp.Or(out.FieldManager, plan.FieldManager)
	return out, nil
}

// waits parses --wait, which is a boolean in Helm 3 and a strategy in Helm 4.
func waits(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "", "false", "hookonly":
		return false, nil
	case "true", "watcher", "legacy":
		return true, nil
	}
	return false, usage("--wait=%s: must be true, false or hookOnly", text)
}

// method returns how objects are sent: client-side, server-side or auto.
func (o *optionFlags) method() (engine.ServerSide, error) { return serverSide(o.serverSide) }

func serverSide(text string) (engine.ServerSide, error) {
	switch s := engine.ServerSide(cmp.Or(text, "auto")); s {
	case engine.ServerSideAuto, engine.ServerSideOn, engine.ServerSideOff:
		return s, nil
	default:
		return "", usage("--server-side=%s: must be auto, true or false", s)
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
				return nil, usage("--labels %s: %q is reserved for the record itself", pair, key)
			}
			pairs[key] = value
		}
	}
	return pairs, nil
}

// localTime formats a time for tables.
func localTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 -0700 MST")
}
