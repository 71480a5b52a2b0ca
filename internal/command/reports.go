package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/settrees"
	"github.com/kubectl-release/kubectl-release/plan"
)

// formatted is a format of --report and the file to write.
type formatted struct{ format, file string }

// wantedReports parses --report; check has checked the formats.
func (o *showFlags) wantedReports() ([]formatted, error) {
	var out []formatted
	for _, text := range o.reports.Value() {
		format, file, found := strings.Cut(text, "=")
		if !found || file == "" {
			return nil, usage("--report %s: must be FORMAT=FILE, such as sarif=plan.sarif", text)
		}
		out = append(out, formatted{format, file})
	}
	return out, nil
}

// checkReports refuses reports whose format is not one of those given.
func (o *showFlags) checkReports(formats []string) error {
	wanted, err := o.wantedReports()
	if err != nil {
		return err
	}
	for _, r := range wanted {
		if !slices.Contains(formats, r.format) {
			return usage("--report %s=%s: the format must be %s", r.format, r.file, oneOf(formats))
		}
	}
	return nil
}

// checkFiles refuses files for the plans of more than one release: each would replace the one before.
func (o *showFlags) checkFiles(releases int) error {
	wanted, err := o.wantedReports()
	i := slices.IndexFunc(wanted, func(r formatted) bool { return r.file != "-" })
	switch {
	case err != nil || releases < 2:
		return err
	case i >= 0:
		return usage("--report %s=%s: it holds one plan, and here are %d releases: give one NAME at a time", wanted[i].format, wanted[i].file, releases)
	case o.spill.given:
		return usage("--spill %s: it belongs to one plan, and here are %d releases: give one NAME at a time", o.spill.value, releases)
	}
	return nil
}

// reportsTo reports whether --report names a file.
func (o *showFlags) reportsTo(file string) bool {
	wanted, _ := o.wantedReports() // check reports the error
	return slices.ContainsFunc(wanted, func(r formatted) bool { return r.file == file })
}

// printsMarkdown reports whether the command prints Markdown, so flags for Markdown make sense.
func (o *showFlags) printsMarkdown() bool {
	wanted, _ := o.wantedReports() // check has reported the error
	return o.output == "markdown" || o.output == "md" || slices.ContainsFunc(wanted, func(r formatted) bool { return r.format == "markdown" })
}

// writeReports writes the files of --report with print, whose output is already masked.
func (o *showFlags) writeReports(out io.Writer, print func(format string, w io.Writer) error) error {
	wanted, err := o.wantedReports()
	if err != nil {
		return err
	}
	for _, r := range wanted {
		if r.file == "-" {
			if err := print(r.format, out); err != nil {
				return err
			}
			continue
		}
		var text bytes.Buffer
		if err := print(r.format, &text); err != nil {
			return err
		}
		if err := outputfile.Write(r.file, text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("--report %s: %w", r.format, err)
		}
	}
	return nil
}

// reportImpossible writes the files of --report for a plan that can't be made, so what a pull request
// shows does not stay that of an earlier plan. It returns err, which is printed as without them.
func (p *program) reportImpossible(o *showFlags, of release.Key, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var at plan.Place
	var in *engine.TemplateError
	if errors.As(err, &in) {
		at = in.Place
	}
	made := plan.Impossible(of, p.errorText(err), at, toolVersion())
	return errors.Join(err, o.writeReports(p.raw.Out, func(format string, w io.Writer) error { return p.renderAs(o, format, w, made) }))
}

// reportUnread is reportImpossible for a set that can't be read or planned. What distinguishes the
// reports is the same as in those of its plan.
func (p *program) reportUnread(o *manyFlags, files []string, err error) error {
	if o.printSet || o.listCharts || errors.Is(err, context.Canceled) {
		return err
	}
	made := &releaseset.Document{
		FormatVersion: releaseset.FormatVersion, ToolVersion: toolVersion(), Files: settrees.Names(files),
		Environment: o.set.environment, Selectors: o.set.selectors.Value(), Compared: o.since+o.baseDir != "",
		Unread: []string{p.errorText(err)},
	}
	made.Finish()
	return errors.Join(err, o.show.writeReports(p.raw.Out, func(format string, w io.Writer) error { return p.renderSetAs(&o.show, format, w, made) }))
}

// checkUntrusted refuses, with --untrusted, the flags that let a chart or values do more than
// render: run a program, use the network, or read files outside their folder. A dependency may be on any
// server, which would get the credentials of flags, or in any folder.
func (o *sourceFlags) checkUntrusted() error {
	for flag, given := range map[string]bool{
		"post-renderer": o.render.postRenderer != "", "enable-dns": o.render.DNS, "dependency-update": o.render.dependencyUpdate, outsideLinks: o.chart.load.OutsideLinks,
	} {
		if given && o.render.untrusted {
			return usage("--%s can't be combined with --untrusted", flag)
		}
	}
	return nil
}

// chartFolder returns name if it is a folder, else "".
func chartFolder(name string) string {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return ""
	}
	return name
}

// fileInstead returns the file that findings point to if a chart is not a folder: the archive or,
// for a fetched chart, the last file of values; "" if there is none.
func fileInstead(name string, valuesFiles []string) string {
	if _, err := os.Stat(name); err == nil {
		return name
	}
	for _, file := range slices.Backward(valuesFiles) {
		if file != "-" && !strings.Contains(file, "://") {
			return file
		}
	}
	return ""
}

// inRepository returns the path of a file relative to the root of its Git repository, with forward
// slashes, as forges write it. Outside a repository, it returns the name.
func inRepository(name string) string {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return filepath.ToSlash(name)
	}
	for root := filepath.Dir(absolute); ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			if inside, err := filepath.Rel(root, absolute); err == nil {
				return filepath.ToSlash(inside)
			}
		}
		if root == filepath.Dir(root) {
			return filepath.ToSlash(filepath.Clean(name))
		}
	}
}
