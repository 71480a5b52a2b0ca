package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/plan"
)

// guarding returns the flags that turn risks into blocking problems.
func (o *optionFlags) guarding() []cli.Flag {
	names := make([]string, 0, len(plan.Risks()))
	for _, r := range plan.Risks() {
		names = append(names, string(r))
	}
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "deny", Destination: &o.deny, Usage: "block steps with these `RISKS`: " + strings.Join(names, ", ") + " (separated by commas, repeatable)", Category: applyCategory},
		&cli.StringSliceFlag{Name: "policy", Destination: &o.policies, Usage: "block what the policy `FILE` denies (repeatable; see docs/policy.md)", Category: applyCategory},
	}
}

// policy combines --deny and --policy.
func (o *optionFlags) policy() (plan.Policy, error) {
	var words []string
	for _, list := range o.deny.Value() {
		words = append(words, strings.Split(list, ",")...)
	}
	joined, err := plan.DenyRisks(words...)
	if err != nil {
		return plan.Policy{}, usage("--deny: %s", err)
	}
	for _, file := range o.policies.Value() {
		data, err := inputfile.Read(file, inputfile.MaxBytes)
		if err != nil {
			return plan.Policy{}, fmt.Errorf("read the policy: %w", err)
		}
		parsed, err := plan.ParsePolicy(data, filepath.Base(file))
		if err != nil {
			return plan.Policy{}, err
		}
		joined = joined.And(parsed)
	}
	return joined, nil
}

// guarded checks a saved plan against the policy of the command line, in addition to the policy it
// was made under.
func (o *planningFlags) guarded(saved *plan.Plan) (*plan.Plan, error) {
	more, err := o.options.policy()
	if err != nil {
		return nil, err
	}
	sensitive, err := o.show.patterns()
	if err != nil {
		return nil, err
	}
	return saved.WithSensitive(sensitive).WithPolicy(more), nil
}
