package main

import (
	"bufio"
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

// interval is how often a build tells how far it is.
const interval = 5 * time.Second

// progress counts what the go command says while it works.
type progress struct {
	downloaded, compiled int
	last                 string
	failure              []string
}

// compile makes the file dir/name. Without cgo no C compiler is needed.
func compile(ctx context.Context, t target, dir string) error {
	// Without -trimpath, go vet and go test find the same packages in the cache.
	args := []string{"build", "-v", "-ldflags", t.flags(), "-o", filepath.Join(dir, t.name), t.pkg}
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if t.pkg != "." {
		args = []string{"install", "-v", "-trimpath", "-ldflags", t.flags(), t.pkg}
		environment = append(environment, "GOBIN="+dir)
	}
	began := time.Now()
	fmt.Fprintf(os.Stderr, "building %s (%s)\n", t.name, t.pkg)
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = environment
	if err := follow(command, t.name, began); err != nil {
		return err
	}
	if t.pkg != "." {
		path, _, _ := strings.Cut(t.pkg, "@")
		if err := os.Rename(filepath.Join(dir, filepath.Base(path)), filepath.Join(dir, t.name)); err != nil {
			return fmt.Errorf("name the binary: %w", err)
		}
	}
	fmt.Fprintf(os.Stderr, "built %s in %s\n", t.name, time.Since(began).Round(time.Second))
	return nil
}

// follow runs the go command and reports what it does every few seconds.
func follow(command *exec.Cmd, name string, began time.Time) error {
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
	var p progress
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for open := true; open; {
		var line string
		select {
		case line, open = <-lines:
			p.note(line)
		case <-ticker.C:
			fmt.Fprintf(os.Stderr, "  %s: %4s  %s\n", name, time.Since(began).Round(time.Second), p)
		}
	}
	if err := command.Wait(); err != nil {
		return errors.Join(err, errors.New(strings.Join(p.failure, "\n")))
	}
	return nil
}

// note sorts a line: with -v the go command prints a path for each package
// that it has begun to compile.
func (p *progress) note(line string) {
	switch {
	case line == "":
	case strings.HasPrefix(line, "go: downloading "):
		p.downloaded++
		p.last = strings.TrimPrefix(line, "go: ")
	case strings.ContainsAny(line, " :"):
		p.failure = append(p.failure, line)
	default:
		p.compiled++
		p.last = line
	}
}

func (p progress) String() string {
	if p.last == "" {
		return "packages are in the build cache; linking"
	}
	return fmt.Sprintf("%d modules downloaded, %d packages compiled, now %s", p.downloaded, p.compiled, p.last)
}
