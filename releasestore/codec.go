package releasestore

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

const (
	// MaxSize is the most bytes that a Secret or ConfigMap may hold: 1 MiB, the API server's limit
	// (k8s.io/api/core/v1/types.go, MaxSecretSize).
	MaxSize = 1 << 20

	// MaxUnpacked is the most bytes of JSON that a record may unpack to. 1 MiB of packed charts and
	// manifests rarely unpacks to more than 10 MiB, but a malicious record can unpack to 800 MiB.
	MaxUnpacked = 64 << 20

	// maxKept limits the bytes of JSON that one reading keeps in memory, over all records of which
	// it needs more than the outline.
	maxKept = 64 << 20
	// maxScanned limits the bytes of JSON that one reading unpacks, whether they are kept or not.
	maxScanned = 192 << 20
	// maxBeginning limits how far into a record its outline is searched for at first. Helm and this
	// package write it within the first kilobytes; records from elsewhere are searched in full after
	// all others.
	maxBeginning = 1 << 20
	// maxOutline limits the size of an outline.
	maxOutline = 256 << 10
)

// errBudget says that a record exceeds the budget of the reading that it is part of.
var errBudget = fmt.Errorf("the records read together with it unpack to more than %d MiB", maxKept>>20)

// errScanned is errBudget for what is unpacked and not kept.
var errScanned = fmt.Errorf("the records read together with it unpack to more than %d MiB in all", maxScanned>>20)

// errEntries is errBudget for entries.
var errEntries = fmt.Errorf("it and the records read together with it have more than %d entries in lists and mappings", release.MaxEntries)

// allowance is the number of bytes that one reading of records may still unpack and keep, and of
// entries of lists and mappings that these may have.
type allowance struct {
	scanned, kept int64
	entries       int
}

func newAllowance() *allowance {
	return &allowance{scanned: maxScanned, kept: maxKept, entries: release.MaxEntries}
}

// Size returns the number of bytes that the record takes, to be compared with Store.MaxSize. It is
// an error if the record unpacks to more than MaxUnpacked, or to too many entries. Later
// statuses, descriptions and hook results change the size: see plan.RecordReserve.
func Size(r *release.Revision) (int, error) {
	record, err := encode(r)
	return len(record), err
}

// encode returns base64(gzip(JSON)), as Helm 3 and 4 store records (4.3.1,
// pkg/storage/driver/util.go, encodeRelease). The same revision always gives the same text. What exceeds a
// Secret by little is packed again as tightly as Helm packs everything: Helm's own record of it may just fit.
func encode(r *release.Revision) (string, error) {
	record, err := encodeAt(r, gzip.DefaultCompression)
	if err == nil && len(record) > MaxSize && len(record) < MaxSize+MaxSize/10 {
		return encodeAt(r, gzip.BestCompression)
	}
	return record, err
}

func encodeAt(r *release.Revision, level int) (string, error) {
	var record strings.Builder
	text := base64.NewEncoder(base64.StdEncoding, &record)
	packed, err := gzip.NewWriterLevel(text, level)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", r, err)
	}
	var entries release.Entries
	unpacked := &counter{to: io.MultiWriter(packed, &entries)}
	if err := cmp.Or(r.WriteJSON(unpacked), packed.Close(), text.Close()); err != nil {
		return "", fmt.Errorf("encode %s: %w", r, err)
	}
	if unpacked.n > MaxUnpacked {
		return "", fmt.Errorf("encode %s: %d bytes of JSON are more than the %d that can be read back", r, unpacked.n, MaxUnpacked)
	}
	if entries.N > release.MaxEntries {
		return "", fmt.Errorf("encode %s: its chart, values and hooks have %d entries in lists and mappings, more than the %d that can be read back", r, entries.N, release.MaxEntries)
	}
	return record.String(), nil
}

// counter counts what it passes on.
type counter struct {
	to io.Writer
	n  int
}

// Write implements io.Writer.
func (c *counter) Write(data []byte) (int, error) {
	c.n += len(data)
	return c.to.Write(data)
}

// decode reads a part of a record that encode or Helm wrote. Records from before Helm compressed
// them are base64 of plain JSON (Helm 4.3.1, pkg/storage/driver/util.go, decodeRelease). It unpacks
// no more than most bytes of JSON.
func decode(record string, part release.Part, most int64, a *allowance) (*release.Revision, error) {
	if record == "" {
		return nil, fmt.Errorf("the key %q is missing or empty", dataKey)
	}
	data, err := base64.StdEncoding.DecodeString(record)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	var in io.Reader = bytes.NewReader(data)
	packed := bytes.HasPrefix(data, []byte{0x1f, 0x8b, 0x08})
	if packed {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("damaged gzip: %w", err)
		}
	}
	scan := &scanner{in: in, left: min(most, a.scanned), most: most, said: int64(len(data))}
	if n := len(data); n >= 8 && packed {
		scan.said = int64(binary.LittleEndian.Uint32(data[n-4:])) // RFC 1952, ISIZE
	}
	r, err := decodePart(scan, part, a)
	a.scanned -= scan.read
	switch {
	case scan.err != nil:
		return nil, scan.err
	case errors.Is(err, release.ErrTooLarge) && part != release.Outline:
		return nil, errBudget
	case errors.Is(err, release.ErrTooMany) && a.entries < release.MaxEntries:
		return nil, errEntries
	case errors.Is(err, release.ErrTooMany), errors.Is(err, release.ErrTooLarge):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("not a release in JSON: %w", err)
	}
	return r, nil
}

func decodePart(in *scanner, part release.Part, a *allowance) (*release.Revision, error) {
	switch part {
	case release.Outline:
		return release.ReadPart(in, part, maxOutline, new(release.MaxEntries))
	case release.Sent, release.HookRuns:
		r, err := release.ReadPart(in, part, int(a.kept), &a.entries)
		if err == nil {
			a.kept -= sent(r)
		}
		return r, err
	case release.Whole:
	}
	var data bytes.Buffer
	data.Grow(int(min(in.said, a.kept)) + bytes.MinRead)
	if _, err := io.Copy(&data, io.LimitReader(in, a.kept+1)); err != nil {
		return nil, err
	}
	if a.kept -= int64(data.Len()); a.kept < 0 {
		return nil, release.ErrTooLarge
	}
	return release.Read(data.Bytes(), &a.entries)
}

// sent estimates how many bytes of manifests were kept for a revision.
func sent(r *release.Revision) int64 {
	size := len(r.Manifest)
	for _, h := range r.Hooks {
		size += len(h.Manifest)
	}
	return int64(size)
}

// scanner unpacks a limited number of bytes and remembers its first error, which the JSON reader
// would wrap.
type scanner struct {
	in         io.Reader
	left, most int64
	said       int64 // the unpacked size that the data claims, which may be wrong
	read       int64
	err        error
}

// Read implements io.Reader.
func (s *scanner) Read(p []byte) (int, error) {
	n, err := s.in.Read(p[:min(int64(len(p)), s.left+1)])
	s.read += int64(n)
	s.left -= int64(n)
	switch {
	case s.left < 0 && s.read > s.most:
		s.err = errTooLong
	case s.left < 0:
		s.err = errScanned
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.err = errors.New("damaged gzip: it ends too early")
	case err != nil && !errors.Is(err, io.EOF):
		s.err = fmt.Errorf("damaged gzip: %w", err)
	}
	if s.err != nil {
		return n, s.err
	}
	return n, err
}

var errTooLong = fmt.Errorf("it unpacks to more than %d MiB", MaxUnpacked>>20)
