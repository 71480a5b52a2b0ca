package command

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/plansign"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

const approvalCategory = "Approval"

// unapprovedError reports that a plan is not the one that was approved.
type unapprovedError struct{ what string }

func (e *unapprovedError) Error() string { return e.what }

func unapproved(format string, args ...any) error {
	return &unapprovedError{fmt.Sprintf(format, args...)}
}

// approvalFlags are the conditions that a saved plan or set must meet to be applied.
type approvalFlags struct {
	digest, commit string
	maxAge         time.Duration
	signerFlags
}

// signerFlags say who must have signed the plan.
type signerFlags struct{ signers, signer string }

func (o *signerFlags) flags(name string) []cli.Flag {
	return []cli.Flag{
		notEmpty(&cli.StringFlag{Name: "allowed-signers", Destination: &o.signers, Usage: "refuse it (exit 1) unless " + name + ".sig is a signature by one of the signers in this `FILE` of SSH keys; see ALLOWED SIGNERS in ssh-keygen(1)", Category: approvalCategory}),
		notEmpty(&cli.StringFlag{Name: "signer", Destination: &o.signer, Usage: "with --allowed-signers: which of them it must be, such as ci@shop", Category: approvalCategory}),
	}
}

func (o *signerFlags) allowed() plansign.Signers {
	return plansign.Signers{File: o.signers, Principal: o.signer}
}

// check refuses flags that make no sense together.
func (o *signerFlags) check() error {
	if o.signer != "" && o.signers == "" {
		return usage("--signer needs --allowed-signers: the file of the keys")
	}
	return nil
}

func (o *approvalFlags) flags() []cli.Flag { return o.flagsFor("FILE", "plan", "FILE") }

// flagsFor returns the flags for what, a plan or set, in name; signed is the file that is signed.
func (o *approvalFlags) flagsFor(name, what, signed string) []cli.Flag {
	return append([]cli.Flag{
		notEmpty(&cli.StringFlag{Name: "expect-digest", Destination: &o.digest, Usage: "refuse " + name + " (exit 4) unless this is its `DIGEST`, the sha256:… of the approved " + what, Category: approvalCategory}),
		notEmpty(&cli.StringFlag{Name: "expect-commit", Destination: &o.commit, Usage: "refuse " + name + " (exit 4) unless it was planned from this `COMMIT` (full hash)", Category: approvalCategory}),
		&cli.DurationFlag{Name: "max-age", Destination: &o.maxAge, Usage: "refuse " + name + " (exit 4) if it is older than this, or dated more than 5 minutes ahead", Category: approvalCategory},
	}, o.signerFlags.flags(signed)...)
}

// check refuses flags with values that make no sense.
func (o *approvalFlags) check() error {
	if o.maxAge < 0 {
		return usage("--max-age=%s: must be a duration, such as 24h", o.maxAge)
	}
	return errors.Join(o.signerFlags.check(), checkDigest("expect-digest", o.digest))
}

// sealed checks the signature and the digest of a saved plan, before it is parsed.
func (o *approvalFlags) sealed(file string, data []byte) error {
	digest := plan.Digest(data)
	if o.signers != "" {
		if err := o.allowed().Check(file, plansign.Read, digest, report.StatementPredicate, time.Now()); err != nil {
			return err
		}
	}
	return o.matches(file, "plan", digest)
}

// matches checks the digest of what, a plan or set, in a file.
func (o *approvalFlags) matches(file, what, digest string) error {
	if o.digest != "" && o.digest != digest {
		return unapproved("%s is not the %s that was approved: its digest is %s, but %s is expected", file, what, digest, o.digest)
	}
	return nil
}

// allows checks the origin of a saved plan or set: its commit and its age.
func (o *approvalFlags) allows(file string, from *plan.Origin, now time.Time) error {
	switch {
	case o.commit == "" && o.maxAge == 0:
		return nil
	case from == nil:
		return unapproved("%s does not say when and from which commit it was made: it was saved by an older version", file)
	case o.commit != "" && o.commit != from.Commit:
		return unapproved("%s was planned from commit %s, but %s is expected", file, cmp.Or(from.Commit, "(not known: plan with --commit)"), o.commit)
	case o.maxAge > 0 && from.Ahead(now):
		return unapproved("%s is dated %s, in the future: a clock is wrong, and its age is not known", file, from.Created.Format(time.RFC3339))
	case from.Expired(now, o.maxAge):
		return unapproved("%s was made at %s, more than %s ago", file, from.Created.Format(time.RFC3339), o.maxAge)
	}
	return nil
}

// effectFlags are the flags for the effect digest of a plan.
type effectFlags struct{ expect, keyFile string }

func (o *effectFlags) flags() []cli.Flag {
	return []cli.Flag{
		notEmpty(&cli.StringFlag{Name: "expect-effect", Destination: &o.expect, Usage: "do not ask if the plan's effect has this `DIGEST`, sha256:…; refuse it (exit 4) otherwise", Category: approvalCategory}),
		o.keyFlag(),
	}
}

func (o *effectFlags) keyFlag() cli.Flag {
	return notEmpty(&cli.StringFlag{Name: "effect-key-file", Destination: &o.keyFile, Usage: "make the effect's digest cover the values of secrets, too; the key is the content of this `FILE`", Category: approvalCategory})
}

// check refuses a malformed digest.
func (o *effectFlags) check() error { return checkDigest("expect-effect", o.expect) }

// checkReleases refuses the digest of an effect for more than one release: the release is part of the effect.
func (o *effectFlags) checkReleases(releases int) error {
	if o.expect != "" && releases > 1 {
		return usage("--expect-effect %s: it is that of one release, and here are %d: give one NAME at a time", o.expect, releases)
	}
	return nil
}

// effectKey returns the key of effect digests, nil without one.
func (p *program) effectKey(o *effectFlags) ([]byte, error) {
	if o.keyFile == "" {
		return nil, nil
	}
	key, err := p.readFile("--effect-key-file", o.keyFile)
	if err != nil {
		return nil, fmt.Errorf("--effect-key-file: %w", err)
	}
	if len(key) < 16 {
		return nil, fmt.Errorf("--effect-key-file: %s has %d bytes, but a key that can't be guessed has at least 16", o.keyFile, len(key))
	}
	return key, nil
}

// effectDigest returns the digest of the plan's effect.
func (p *program) effectDigest(o *effectFlags, made *plan.Plan) (string, error) {
	key, err := p.effectKey(o)
	if err != nil {
		return "", err
	}
	return p.maskOf(made).EffectDigest(made, key), nil
}

// withEffect returns the plan with the digest of its effect in it.
func (p *program) withEffect(o *effectFlags, made *plan.Plan) (*plan.Plan, error) {
	digest, err := p.effectDigest(o, made)
	if err != nil {
		return nil, err
	}
	stamped, _, err := made.Stamped(plan.Stamp{EffectDigest: digest})
	p.sameMask(made, stamped)
	return stamped, err
}

// withEffectToKeep is withEffect for a run, whose plan is kept only in reports and in its events.
func (p *program) withEffectToKeep(show *showFlags, o *effectFlags, made *plan.Plan) (*plan.Plan, error) {
	if len(show.reports.Value()) == 0 && show.output != "json" {
		return made, nil
	}
	return p.withEffect(o, made)
}

// approved refuses a plan that is about to be applied if its effect is not the one that
// was approved.
func (p *program) approved(o *effectFlags, made *plan.Plan) error {
	if o.expect == "" {
		return nil
	}
	digest, err := p.effectDigest(o, made)
	if err != nil {
		return err
	}
	if digest != o.expect {
		return unapproved("%s of %s would not do what was approved: its effect is %s, but %s is expected", made.Operation, made.Release, digest, o.expect)
	}
	return nil
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func checkDigest(flag, text string) error {
	if text != "" && !digestForm.MatchString(text) {
		return usage("--%s %s: a digest is sha256: followed by 64 hex digits", flag, text)
	}
	return nil
}
