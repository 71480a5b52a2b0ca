package command

import (
	"bytes"
	"fmt"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
)

// saveSet saves the plans of a set where that is asked for. One with a release that
// can't be planned or is blocked is not saved, nor one that compares files.
func (p *program) saveSet(o *planFileFlags, made *setrun.Planned, clusters map[string]releaseset.Cluster) error {
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
		if key, err = p.planSigner(o.sign); err != nil {
			return err
		}
	}
	if err := setrun.Save(o.out, made, clusters, seal); err != nil {
		return err
	}
	if key != nil {
		var text bytes.Buffer
		if err := report.SetStatement(&text, &made.Document); err != nil {
			return err
		}
		if err := sign(filepath.Join(o.out, setrun.IndexName), text.Bytes(), key); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.streams.Err, "Saved. To do exactly this: %s\n", p.invocation.WithoutNamespace().Command("apply", "many", o.out, "--expect-digest", made.Digest))
	return nil
}
