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
}

func newDownloads(repeat int) *downloads {
	return &downloads{repeat: repeat, sleep: retry.Pause, client: &http.Client{
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
// refused by chartload.
func (d *downloads) chart(ctx context.Context, a *flux.Artifact) (*chart.Chart, error) {
	data, err := d.fetch(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("download of artifact %s: %w", a.Revision, err)
	}
	c, _, err := chartload.Archive(bytes.NewReader(data), a.Revision)
	return c, err
}

func (d *downloads) fetch(ctx context.Context, a *flux.Artifact) ([]byte, error) {
	want, err := digest.Parse(a.Digest)
	if err != nil {
		return nil, fmt.Errorf("digest %q of the source's status: %w", a.Digest, err)
	}
	var data []byte
	for tried := 0; ; tried++ {
		if data, err = d.once(ctx, a); err == nil || errors.Is(err, errGone) || tried >= d.repeat {
			break
		}
		if stop := d.sleep(ctx, min(time.Second<<tried, downloadTimeout)); stop != nil {
			return nil, stop
		}
	}
	if err != nil {
		return nil, err
	}
	if got := want.Algorithm().FromBytes(data); got != want {
		return nil, fmt.Errorf("its digest is %s, not %s as the source's status says", got, want)
	}
	return data, nil
}

// once makes one attempt at a download.
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
