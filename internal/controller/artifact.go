package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Bounds of a download. helm-controller also uses 30 seconds, and nine retries.
const (
	maxArtifact     = 64 << 20
	downloadTimeout = 30 * time.Second
	redirects       = 3
)

// downloads fetches the artifacts of sources.
type downloads struct {
	client *http.Client
	// repeat is how often a failed download is retried.
	repeat int
	sleep  func(context.Context, time.Duration) error
	// room waits until an artifact of the given size may be loaded. The returned function makes room again.
	room func(ctx context.Context, size *int64) (func(), error)
}

func newDownloads(repeat int, room func(context.Context, *int64) (func(), error)) *downloads {
	return &downloads{repeat: repeat, sleep: retry.Pause, room: room, client: &http.Client{
		Timeout: downloadTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > redirects {
				return errors.New("too many redirects")
			}
			return nil
		},
	}}
}

// errGone reports that the server no longer has an artifact: the source has a newer
// one, or is building it again. The download is not retried immediately.
var errGone = errors.New("the artifact is gone")

// chart downloads and loads the chart in an artifact. It fails if the artifact
// can't be downloaded (errGone if the server no longer has it), is larger than 64
// MiB or than the source's status says, has a different digest or none, or is
// refused by chartload. The room for the chart is taken until done is called, which is nil if there is no chart.
func (d *downloads) chart(ctx context.Context, a *flux.Artifact) (c *chart.Chart, done func(), err error) {
	data, ready, err := d.fetch(ctx, a)
	if err != nil {
		return nil, nil, fmt.Errorf("download of artifact %s: %w", a.Revision, err)
	}
	defer func() {
		if c == nil { // also when loading panics
			ready()
		}
	}()
	if c, _, err = chartload.Archive(bytes.NewReader(data), a.Revision); err != nil {
		return nil, nil, err
	}
	return c, ready, nil
}

func (d *downloads) fetch(ctx context.Context, a *flux.Artifact) (data []byte, done func(), err error) {
	want, err := digest.Parse(a.Digest)
	if err != nil {
		return nil, nil, fmt.Errorf("digest %q of the source's status: %w", a.Digest, err)
	}
	for tried := 0; ; tried++ {
		if data, done, err = d.attempt(ctx, a); err == nil || errors.Is(err, errGone) || tried >= d.repeat {
			break
		}
		if stop := d.sleep(ctx, min(time.Second<<tried, downloadTimeout)); stop != nil {
			return nil, nil, stop
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if got := want.Algorithm().FromBytes(data); got != want {
		done()
		return nil, nil, fmt.Errorf("its digest is %s, not %s as the source's status says", got, want)
	}
	return data, done, nil
}

// attempt makes one attempt at a download once there is room for it. If it fails, it makes room again, so that
// nothing is taken during the pause before the next attempt.
func (d *downloads) attempt(ctx context.Context, a *flux.Artifact) (data []byte, done func(), err error) {
	if done, err = d.room(ctx, a.Size); err != nil {
		return nil, nil, err
	}
	if data, err = d.once(ctx, a); err != nil {
		done()
		return nil, nil, err
	}
	return data, done, nil
}

// once makes one request for an artifact.
func (d *downloads) once(ctx context.Context, a *flux.Artifact) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, nil)
	if err != nil {
		return nil, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusGone:
		return nil, fmt.Errorf("%w: %s", errGone, response.Status)
	case response.StatusCode != http.StatusOK:
		return nil, errors.New(response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit(a)+1))
	if err == nil && int64(len(data)) > limit(a) {
		err = fmt.Errorf("it is larger than %d bytes", limit(a))
	}
	return data, err
}

// limit returns how many bytes the artifact may have.
func limit(a *flux.Artifact) int64 {
	if a.Size != nil && *a.Size >= 0 && *a.Size < maxArtifact {
		return *a.Size
	}
	return maxArtifact
}
