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
	"github.com/kubectl-release/kubectl-release/plan"
)

const savingCategory = "Saved plans"

// savingFlags are those of commands that make plans to keep.
func savingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Usage: "save the plan in `FILE`, for apply; it holds secrets", Category: savingCategory},
		&cli.StringSliceFlag{Name: "encrypt-to", Usage: "with --out: encrypt for this `RECIPIENT`, an age1… or SSH public key, or a file of these (repeatable)", Category: savingCategory},
		&cli.BoolFlag{Name: "encrypt", Usage: "with --out: encrypt with a passphrase, that of --passphrase-file or one that is asked for", Category: savingCategory},
		&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit 2 when there are changes, 3 when only the record would change", Category: planCategory},
		passphraseFlag(),
	}
}

func passphraseFlag() cli.Flag {
	return &cli.StringFlag{Name: "passphrase-file", Usage: "`FILE` with the passphrase that a saved plan is encrypted with, or is going to be", Category: savingCategory}
}

// openingFlags are those of commands that read saved plans.
func openingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "identity", Aliases: []string{"i"}, Usage: "`FILE` with the private key, of age or SSH, that opens an encrypted plan (repeatable)", Category: savingCategory},
		passphraseFlag(),
	}
}

// checkSaving finds mistakes before a plan is made.
func checkSaving(c *cli.Context) error {
	sealed := c.Bool("encrypt") || c.IsSet("encrypt-to")
	switch {
	case sealed && c.String("out") == "":
		return usage("--encrypt and --encrypt-to need --out: the file that is encrypted")
	case c.Bool("encrypt") && c.IsSet("encrypt-to"):
		return usage("a plan is encrypted with a passphrase (--encrypt) or for recipients (--encrypt-to), not both")
	}
	if err := (planfile.Seal{Recipients: c.StringSlice("encrypt-to")}).Check(); err != nil {
		return fmt.Errorf("--encrypt-to: %w", err)
	}
	return nil
}

// byPassphrase says whether to encrypt with a passphrase: whoever names a file
// with one does not expect a plain plan.
func byPassphrase(c *cli.Context) bool {
	return c.Bool("encrypt") || c.String("passphrase-file") != "" && !c.IsSet("encrypt-to")
}

func (p *program) savePlan(c *cli.Context, file string, made *plan.Plan) error {
	seal := planfile.Seal{Recipients: c.StringSlice("encrypt-to")}
	if byPassphrase(c) {
		var err error
		if seal.Passphrase, err = p.newPassphrase(c); err != nil {
			return err
		}
	}
	return planfile.Write(file, made, seal)
}

func (p *program) readPlan(c *cli.Context, file string) (*plan.Plan, error) {
	return planfile.Read(file, p.keys(c))
}

func (p *program) keys(c *cli.Context) planfile.Keys {
	return planfile.Keys{
		Identities: c.StringSlice("identity"),
		Ask:        func(what string) (string, error) { return p.passphrase(c, "Passphrase of "+what) },
	}
}

// newPassphrase is one for a plan that is going to be encrypted: from the file,
// else typed twice.
func (p *program) newPassphrase(c *cli.Context) (string, error) {
	first, err := p.passphrase(c, "Passphrase for the plan")
	if err != nil || c.String("passphrase-file") != "" {
		return first, err
	}
	again, err := p.passphrase(c, "The same once more")
	if err == nil && first != again {
		err = errors.New("the two passphrases differ; nothing was saved")
	}
	return first, err
}

// passphrase reads the first line of --passphrase-file, or asks.
func (p *program) passphrase(c *cli.Context, question string) (string, error) {
	text := ""
	if file := c.String("passphrase-file"); file != "" {
		data, err := p.readFile(file)
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

// typed asks on the terminal, without showing the answer.
func (p *program) typed(question string) (string, error) {
	terminal, ok := p.streams.In.(*os.File)
	if !ok || !isTerminal(p.raw.In) {
		return "", errors.New("a passphrase is needed and nobody is there to be asked: add --passphrase-file")
	}
	fmt.Fprintf(p.streams.Err, "%s: ", question)
	answer, err := term.ReadPassword(int(terminal.Fd()))
	fmt.Fprintln(p.streams.Err)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	return string(answer), nil
}
