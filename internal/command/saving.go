package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/plansign"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

const savingCategory = "Saved plans"

// planFileFlags are the flags of commands that save or read plans.
type planFileFlags struct {
	out                   string
	encrypt               bool
	encryptTo, identities cli.StringSlice
	passphraseFile        string
	sign, commit          string
	effect                effectFlags
	detailedExitCode      bool
	reader                readerFlags
}

// saving returns the flags of commands that make plans to save.
func (o *planFileFlags) saving() []cli.Flag {
	return append(o.sealing(), o.signFlag("FILE"),
		&cli.StringFlag{Name: "out", Destination: &o.out, Usage: "save the plan in `FILE`, for apply; it holds secrets", Category: savingCategory},
	)
}

// signFlag is --sign for what --out saves; name is that file's name in the help.
func (o *planFileFlags) signFlag(name string) cli.Flag {
	return notEmpty(&cli.StringFlag{Name: "sign", Destination: &o.sign, Usage: "with --out: write " + name + ".statement, what can be attested about it, and " + name + ".sig, its signature by the private SSH key in this `FILE`", Category: savingCategory})
}

// sealing returns the flags for saving that also apply to sets.
func (o *planFileFlags) sealing() []cli.Flag {
	return append(o.reader.flags(), []cli.Flag{
		&cli.StringSliceFlag{Name: "encrypt-to", Destination: &o.encryptTo, Usage: "with --out: encrypt for this `RECIPIENT`, an age1… or SSH public key, or a file of these (repeatable)", Category: savingCategory},
		&cli.BoolFlag{Name: "encrypt", Destination: &o.encrypt, Usage: "with --out: encrypt with a passphrase, from --passphrase-file or a prompt", Category: savingCategory},
		&cli.BoolFlag{Name: "detailed-exitcode", Destination: &o.detailedExitCode, Usage: "exit 2 if there are changes, 3 if only the record would change", Category: planCategory},
		o.passphraseFlag(),
		&cli.StringFlag{Name: "commit", Destination: &o.commit, Usage: "with --out: the `COMMIT` that is planned, for --expect-commit (default: GITHUB_SHA or CI_COMMIT_SHA)", Category: savingCategory},
		o.effect.keyFlag(),
	}...)
}

func (o *planFileFlags) passphraseFlag() cli.Flag {
	return notEmpty(&cli.StringFlag{Name: "passphrase-file", Destination: &o.passphraseFile, Usage: "`FILE` with the passphrase that encrypts or decrypts a saved plan", Category: savingCategory})
}

// opening returns the flags of commands that read saved plans.
func (o *planFileFlags) opening() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "identity", Destination: &o.identities, Aliases: []string{"i"}, Usage: "`FILE` with the age or SSH private key that decrypts a saved plan (repeatable)", Category: savingCategory},
		o.passphraseFlag(),
	}
}

// check refuses flags that make no sense, before a plan is made.
func (o *planFileFlags) check() error {
	recipients := o.encryptTo.Value()
	switch {
	case o.out == "-":
		return usage("--out -: a plan is saved in a file, since it holds secrets")
	case (o.reader.readOnly || o.reader.judged != "") && o.out != "":
		return usage("--out can't be combined with --read-only or --judge-as: a plan that estimates is for reading and can't be applied")
	case (o.encrypt || len(recipients) > 0) && o.out == "":
		return usage("--encrypt and --encrypt-to need --out: the file to encrypt")
	case (o.sign != "" || o.commit != "") && o.out == "":
		return usage("--sign and --commit need --out: the file that they are about")
	case o.encrypt && len(recipients) > 0:
		return usage("a plan is encrypted with a passphrase (--encrypt) or for recipients (--encrypt-to), not both")
	}
	if err := (planfile.Seal{Recipients: recipients}).Check(); err != nil {
		return fmt.Errorf("--encrypt-to: %w", err)
	}
	return o.reader.check()
}

// byPassphrase reports whether to encrypt with a passphrase. A passphrase file also asks for
// encryption, unless there are recipients.
func (o *planFileFlags) byPassphrase() bool {
	return o.encrypt || o.passphraseFile != "" && len(o.encryptTo.Value()) == 0
}

// savePlan saves a plan that planfile.Encode has encoded.
func (p *program) savePlan(o *planFileFlags, encoded []byte, made *plan.Plan) error {
	seal := planfile.Seal{Recipients: o.encryptTo.Value()}
	if o.byPassphrase() {
		var err error
		if seal.Passphrase, err = p.newPassphrase(o.passphraseFile); err != nil {
			return err
		}
	}
	if o.sign == "" {
		return planfile.Write(o.out, encoded, seal)
	}
	key, err := plansign.ReadKey(o.sign, p.typed)
	if err != nil {
		return err
	}
	if err := planfile.Write(o.out, encoded, seal); err != nil {
		return err
	}
	text, err := plansign.Statement(made)
	if err != nil {
		return err
	}
	return plansign.Write(o.out, text, key)
}

func (p *program) readPlan(o *planFileFlags, file string) (*plan.Plan, error) {
	return planfile.Read(file, p.keys(o))
}

func (p *program) keys(o *planFileFlags) planfile.Keys {
	return planfile.Keys{
		Identities: o.identities.Value(),
		Ask:        func(what string) (string, error) { return p.passphrase(o.passphraseFile, "Passphrase of "+what) },
	}
}

// newPassphrase returns the passphrase to encrypt a plan with: from the file, or typed twice.
func (p *program) newPassphrase(file string) (string, error) {
	first, err := p.passphrase(file, "Passphrase for the plan")
	if err != nil || file != "" {
		return first, err
	}
	again, err := p.passphrase(file, "Repeat the passphrase")
	if err == nil && first != again {
		err = errors.New("the passphrases do not match; nothing was saved")
	}
	return first, err
}

// passphrase returns the first line of the passphrase file, or asks.
func (p *program) passphrase(file, question string) (string, error) {
	text := ""
	if file != "" {
		data, err := p.readFile("--passphrase-file", file)
		if err != nil {
			return "", fmt.Errorf("--passphrase-file: %w", err)
		}
		text, _, _ = strings.Cut(string(data), "\n")
		text = strings.TrimSuffix(text, "\r")
	} else {
		typed, err := p.typed(question)
		if err != nil {
			return "", err
		}
		text = typed
	}
	if text == "" {
		return "", errors.New("the passphrase is empty")
	}
	return text, nil
}

// typed asks on the terminal without echoing the answer. If the program ends before there is one,
// endQuestion turns the echo on again.
func (p *program) typed(question string) (string, error) {
	tty, ok := p.streams.In.(*os.File)
	if !ok || !terminal.Is(p.raw.In) {
		return "", errors.New("a passphrase is required, and there is no terminal to ask on: use --passphrase-file")
	}
	fd := int(tty.Fd())
	if state, err := term.GetState(fd); err == nil {
		end := func() {
			_ = term.Restore(fd, state)
			fmt.Fprintln(p.streams.Err)
		}
		p.question.Store(&end)
	}
	fmt.Fprintf(p.streams.Err, "%s: ", question)
	answer, err := term.ReadPassword(fd)
	p.question.Store(nil)
	fmt.Fprintln(p.streams.Err)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	return string(answer), nil
}

// endQuestion ends a question that was not answered before the program ends.
func (p *program) endQuestion() {
	if end := p.question.Load(); end != nil {
		(*end)()
	}
}
