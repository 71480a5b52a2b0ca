package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// pushFlags are the flags of push.
type pushFlags struct {
	outputFlags
	force  bool
	access accessFlags
}

func (p *program) pushCommand() *cli.Command {
	var o pushFlags
	return &cli.Command{
		Name: "push", Usage: "push charts to a registry", ArgsUsage: "CHART.tgz... oci://HOST/PATH",
		Description: describe(`Pushes archives as PATH/NAME, with their version as the tag. A tag with different content
is not overwritten unless --force is given. Signatures beside an archive are pushed with
it: its .prov, and cosign signatures that pull or chart bundle wrote.`, "kubectl release push web-1.4.2.tgz oci://ghcr.io/acme/charts"),
		Flags: joined([]cli.Flag{
			&cli.BoolFlag{Name: "force", Destination: &o.force, Usage: "overwrite different content of that version"},
			o.flag(), o.access.plainHTTPFlag(),
		}, o.access.flags(), p.paths.flags()),
		Action: p.readOnly(takes(2, 1000, func(ctx context.Context, args []string) error { return p.push(ctx, &o, args) })),
	}
}

func (p *program) push(ctx context.Context, o *pushFlags, args []string) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	to := args[len(args)-1]
	if !resolve.IsRegistry(to) {
		return usage("%s is not a registry: it must begin with %s", to, resolve.Scheme)
	}
	s, err := p.registry(&o.access)
	if err != nil {
		return err
	}
	rows := []source.Pushed{}
	for _, file := range args[:len(args)-1] {
		var pushed source.Pushed
		u, failed := upload(file, to)
		if u.Force = o.force; failed == nil {
			pushed, failed = s.Push(ctx, u)
		}
		if err = failed; err != nil {
			break
		}
		rows = append(rows, pushed)
		if form == "text" {
			fmt.Fprintf(p.streams.Out, "Pushed: %s\nDigest: %s\n", strings.TrimPrefix(pushed.Reference, resolve.Scheme), pushed.Digest)
			if pushed.Signature != "" {
				fmt.Fprintf(p.streams.Out, "Signature: %s\n", pushed.Signature)
			}
		}
	}
	if form == "text" || err != nil && len(rows) == 0 {
		return err
	}
	return errors.Join(err, p.structured(form, rows)) // what was pushed stays so, whatever happened to the rest
}

// upload reads an archive and the signatures beside it.
func upload(file, to string) (source.Upload, error) {
	var u source.Upload
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return u, usage("%s is a folder: package makes the archive to push", file)
	}
	var err error
	if u.Archive, err = inputfile.Read(file, source.MaxArchiveBytes); err != nil {
		return u, err
	}
	loaded, _, err := chartload.Archive(bytes.NewReader(u.Archive), file)
	if err != nil {
		return u, err
	}
	u.Metadata = loaded.Metadata
	if u.Evidence, err = source.ReadEvidence(file); err != nil {
		return u, err
	}
	if u.To, _, err = resolve.ParseImage(strings.TrimSuffix(to, "/") + "/" + loaded.Name()); err != nil {
		return u, err
	}
	u.Created, err = sourceDate()
	return u, err
}

// sourceDate returns the time in SOURCE_DATE_EPOCH, which makes builds reproducible, or the zero
// time: https://reproducible-builds.org/specs/source-date-epoch/
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s is not a number of seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
