package command

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/plansign"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
)

// saveSet saves the plans of a set if --out or --out-file is given. It does not save a set with a
// release that cannot be planned or is blocked.
func (p *program) saveSet(o *planFileFlags, oneFile bool, made *setrun.Planned, clusters map[string]releaseset.Cluster) error {
	if o.out == "" {
		return nil
	}
	if bad := made.Summary.Failed + made.Summary.Blocked; bad > 0 {
		fmt.Fprintf(p.streams.Err, "Nothing is saved: %d of the releases can't be applied.\n", bad)
		return nil
	}
	seal := planfile.Seal{Recipients: o.encryptTo.Value()}
	if o.byPassphrase() {
		var err error
		if seal.Passphrase, err = p.newPassphrase(o.passphraseFile); err != nil {
			return err
		}
	}
	var key ssh.Signer
	if o.sign != "" {
		var err error
		if key, err = plansign.ReadKey(o.sign, p.typed); err != nil {
			return err
		}
	}
	made.Origin = originOf(o.commit, time.Now())
	files, err := setrun.Encode(made, clusters, seal)
	if err != nil {
		return err
	}
	if key != nil {
		var text bytes.Buffer
		if err := report.SetStatement(&text, &made.Document); err != nil {
			return err
		}
		signature, err := plansign.Sign(text.Bytes(), key)
		if err != nil {
			return err
		}
		files = slices.Insert(files, len(files)-1, // set.json, which makes it a set, stays the last
			setrun.File{Name: setrun.IndexName + plansign.StatementEnding, Data: text.Bytes()}, setrun.File{Name: setrun.IndexName + plansign.SignatureEnding, Data: signature})
	}
	save := setrun.SaveFolder
	if oneFile {
		save = setrun.SaveFile
	}
	if err := save(o.out, files); err != nil {
		return err
	}
	fmt.Fprintf(p.streams.Err, "Saved. To do exactly this: %s\n", p.invocation.WithoutNamespace().Command("apply", "many", o.out, "--expect-digest", made.Digest))
	return nil
}
