package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// interval is how often a build reports its progress.
const interval = 5 * time.Second

// compile builds the target's programs in dir. It disables cgo, so no C compiler is needed.
func compile(ctx context.Context, t target, dir string) error {
	// Without -trimpath, go vet and go test find the same packages in the cache. The tag
	// excludes a Markdown parser from kubectl-release: packaging/goreleaser.yaml.
	packages := []string{cmp.Or(t.pkg, ".")}
	for _, folder := range t.also {
		packages = append(packages, "./"+folder)
	}
	args := append([]string{"build", "-v", "-tags", "urfave_cli_no_docs", "-ldflags", t.flags(), "-o", t.output(dir)}, packages...)
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if os.Getenv("GOGC") == "" {
		// The compiler collects garbage only once its heap is large: a tenth faster than with GOGC=400.
		environment = append(environment, "GOGC=off", "GOMEMLIMIT=1GiB")
	}
	if t.folder == "" {
		args = []string{"install", "-v", "-ldflags", t.flags(), t.pkg}
		environment = append(environment, "GOBIN="+dir)
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Env, command.Dir = environment, t.folder
	p := &progress{name: t.name, began: time.Now(), terminal: isTerminal(os.Stderr)}
	if t.folder != "" {
		p.ask = func() *estimate { return newEstimate(ctx, t.folder, packages, environment) }
	}
	if err := p.follow(command); err != nil {
		return err
	}
	if t.folder == "" {
		path, _, _ := strings.Cut(t.pkg, "@")
		if err := os.Rename(filepath.Join(dir, filepath.Base(path)), filepath.Join(dir, t.name)); err != nil {
			return fmt.Errorf("name the binary: %w", err)
		}
	}
	if took := time.Since(p.began); took >= interval || t.folder == "" {
		p.tell("built %s in %s\n", t.name, took.Round(time.Second))
	}
	return nil
}

// output returns what the go command writes: with several programs, only the folder can be chosen.
func (t target) output(dir string) string {
	if len(t.also) > 0 {
		return dir + string(filepath.Separator)
	}
	return filepath.Join(dir, t.name)
}

// progress tracks what the go command prints while it works.
type progress struct {
	name       string
	began      time.Time
	terminal   bool
	downloaded int
	compiled   []string
	last       string
	failure    []string
	// ask makes the estimate; nil if it can't be made, or has been asked for.
	ask func() *estimate
	// estimate is nil until ask has returned it.
	estimate *estimate
}

// follow runs the go command and reports what it does every few seconds.
func (p *progress) follow(command *exec.Cmd) error {
	output, err := command.StderrPipe()
	if err != nil {
		return fmt.Errorf("open a pipe for the go command: %w", err)
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start the go command: %w", err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(output)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		_, _ = io.Copy(io.Discard, output)
	}()
	p.watch(lines)
	if err := command.Wait(); err != nil {
		return errors.Join(err, errors.New(strings.Join(p.failure, "\n")))
	}
	return nil
}

// watch processes lines until there are no more. A build that is finished by the first
// report is not estimated.
func (p *progress) watch(lines <-chan string) {
	estimates := make(chan *estimate, 1)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for open := true; open; {
		var line string
		select {
		case line, open = <-lines:
			p.note(line)
		case p.estimate = <-estimates:
			p.estimate.forget(p.compiled)
		case <-ticker.C:
			if p.ask != nil && len(p.compiled) > 0 {
				ask := p.ask
				p.ask = nil
				go func() { estimates <- ask() }()
			}
			p.report()
		}
	}
}

// note classifies a line: with -v, the go command prints the path of each package
// that it begins to compile.
func (p *progress) note(line string) {
	switch {
	case line == "":
	case strings.HasPrefix(line, "go: downloading "):
		p.downloaded++
		p.last = strings.TrimPrefix(line, "go: ")
	case strings.ContainsAny(line, " :"):
		p.failure = append(p.failure, line)
	default:
		p.compiled = append(p.compiled, line)
		p.last = line
		p.estimate.note(line)
	}
}

func (p *progress) elapsed() time.Duration { return time.Since(p.began).Round(time.Second) }

// report prints how far the build is, on a terminal always in the same line.
func (p *progress) report() {
	if p.terminal {
		p.tell("  %s: %4s  %s", p.name, p.elapsed(), p)
		return
	}
	p.tell("  %s: %4s  %s\n", p.name, p.elapsed(), p)
}

// tell prints a line; on a terminal it replaces the last report.
func (p *progress) tell(format string, args ...any) {
	if p.terminal {
		format = "\r\x1b[K" + format
	}
	fmt.Fprintf(os.Stderr, format, args...)
}

func (p *progress) String() string {
	switch {
	case p.last == "":
		return "packages are in the build cache; linking"
	case len(p.compiled) == 0:
		return fmt.Sprintf("%d modules downloaded, now %s", p.downloaded, strings.TrimPrefix(p.last, "downloading "))
	case p.estimate == nil:
		return fmt.Sprintf("%d packages compiled, now %s", len(p.compiled), p.last)
	case p.estimate.compiled == p.estimate.packages:
		return "linking"
	default:
		return fmt.Sprintf("%s, now %s", p.estimate, p.last)
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
