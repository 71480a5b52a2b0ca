// Package postrender runs a program that rewrites a rendered manifest (--post-renderer): it gives it what
// Helm gives it, in annotations and comments, and reads back which template each object is from.
//
// It does not know what the program may read of the environment, and checks nothing of what the program
// printed but its size and that it is YAML.
package postrender

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	// maxRewritten is how many bytes a post-renderer may print; templates have the same limit.
	maxRewritten = 32 << 20
	// maxRewrittenEntries is how many entries, as counted by manifest.Entries, it may print.
	maxRewrittenEntries = 600_000
	// maxComplaint is how many bytes of a post-renderer's standard error are kept.
	maxComplaint = 64 << 10
	// postRenderGrace is how long a stopped post-renderer may take to exit.
	postRenderGrace = 5 * time.Second
)

// By returns a function that runs a program with the manifest, annotated by annotateSources, on
// its standard input, or nil if name is "".
func By(name string, args, environment []string) func(context.Context, string) (string, error) {
	if name == "" {
		return nil
	}
	return func(ctx context.Context, text string) (string, error) {
		text, err := annotateSources(text)
		if err != nil {
			return "", err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		run := exec.CommandContext(ctx, name, args...)
		run.Env = environment
		run.WaitDelay = postRenderGrace
		out, complaint := &bounded{most: maxRewritten, full: stop}, &bounded{most: maxComplaint}
		run.Stdin, run.Stdout, run.Stderr = strings.NewReader(text), out, complaint
		err = run.Run()
		switch {
		case out.over:
			return "", fmt.Errorf("%s printed more than %d MiB", name, maxRewritten>>20)
		case err != nil:
			if _, notStarted := errors.AsType[*exec.Error](err); notStarted {
				return "", err
			}
			why := strings.TrimSpace(complaint.text.String())
			return "", fmt.Errorf("%s: %w: %s", name, err, cmp.Or(why, "it printed no error"))
		case strings.TrimSpace(out.text.String()) == "":
			return "", fmt.Errorf("%s printed nothing", name)
		}
		text, err = restoreSources(out.text.String())
		if err != nil {
			err = fmt.Errorf("what %s printed: %w", name, err)
		}
		return text, err
	}
}

// bounded keeps the first bytes written to it, up to most. If there are more, it calls full and
// fails; if full is nil, it drops them.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom would ignore the limit
	most int
	full func()
	over bool
}

var errFull = errors.New("too much was printed")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.text.Len()
	if len(p) <= room {
		return b.text.Write(p)
	}
	_, _ = b.text.Write(p[:room])
	if b.full == nil {
		return len(p), nil
	}
	b.over = true
	b.full()
	return room, errFull
}
