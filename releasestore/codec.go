package releasestore

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

const (
	// MaxSize is the most bytes that a Secret or ConfigMap may hold: 1 MiB, the
	// API server's limit (Kubernetes 1.36).
	MaxSize = 1 << 20

	// MaxUnpacked is the most bytes of JSON that a record may unpack to. What
	// fits into 1 MiB packed is rarely more than 10 MiB of charts and
	// manifests, yet a made-up record can unpack to 800 MiB.
	MaxUnpacked = 64 << 20
)

// Size is how many bytes the record takes, to be compared with Store.MaxSize. One
// that unpacks to more than MaxUnpacked is an error. A later status, description or hook result changes it
// by some hundred bytes.
func Size(r *release.Revision) (int, error) {
	record, err := encode(r)
	return len(record), err
}

// encode gives base64(gzip(JSON)), as Helm 3 and 4 store it. The same revision
// always gives the same text.
func encode(r *release.Revision) (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", r, err)
	}
	if len(data) > MaxUnpacked {
		return "", fmt.Errorf("encode %s: %d bytes of JSON are more than the %d that can be read back", r, len(data), MaxUnpacked)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.DefaultCompression)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", r, err)
	}
	if _, err := w.Write(data); err != nil {
		return "", fmt.Errorf("encode %s: %w", r, err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("encode %s: %w", r, err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// decode reads what encode or a Helm wrote. Records from before Helm packed
// them are JSON below the base64.
func decode(record string) (*release.Revision, error) {
	if record == "" {
		return nil, fmt.Errorf("the key %q is missing or empty", dataKey)
	}
	data, err := base64.StdEncoding.DecodeString(record)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b, 0x08}) {
		if data, err = unpack(data); err != nil {
			return nil, err
		}
	}
	var r release.Revision
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("not a release in JSON: %w", err)
	}
	return &r, nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("damaged gzip: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxUnpacked+1))
	switch {
	case len(data) > MaxUnpacked:
		return nil, fmt.Errorf("it unpacks to more than %d MiB", MaxUnpacked>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("damaged gzip: it ends too early")
	case err != nil:
		return nil, fmt.Errorf("damaged gzip: %w", err)
	}
	return data, nil
}
