package dependency

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Fetch fetches the chart that was found, and compares its name and version with those under which it
// was found. A signature does not cover these: neither an index nor a tag is signed, so a server could
// pass off an older chart, or another one, as the one that was asked for. They are an error if the chart
// has to be signed, and otherwise a warning, as Helm 4.3.1 takes what an index has under a version.
// A digest in the reference says which chart is meant, whatever its mirror is called.
// Errors: those of source.Sources.Fetch; *OtherChartError; what has to be signed is not a chart.
func Fetch(ctx context.Context, s *source.Sources, f source.Found) (source.Fetched, []chart.Warning, error) {
	fetched, err := s.Fetch(ctx, f)
	if err != nil {
		return source.Fetched{}, nil, err
	}
	wanted := &chart.Metadata{Name: f.Name, Version: foundVersion(f)}
	if f.Pinned {
		wanted.Name = ""
	}
	if text(wanted) == "" {
		return fetched, nil, nil
	}
	holds, err := chartload.Metadata(bytes.NewReader(fetched.Data), fetched.FileName())
	switch {
	case err != nil && fetched.Signature != nil:
		return source.Fetched{}, nil, err
	case err != nil: // loading it fails, and says why
		return fetched, nil, nil
	case matches(wanted, holds):
		return fetched, nil, nil
	}
	other := &OtherChartError{At: fetched.Location(), Holds: text(holds), Wanted: text(wanted)}
	if fetched.Signature != nil {
		return source.Fetched{}, nil, other
	}
	return fetched, []chart.Warning{{Where: fetched.FileName(), What: fmt.Sprintf("it holds chart %s, not %s", other.Holds, other.Wanted)}}, nil
}

// foundVersion returns the version under which a chart was found, "" if that is not known, as with a tag
// that is not a version.
func foundVersion(f source.Found) string {
	tag := resolve.VersionOf(f.Tag())
	if f.Version == "" && resolve.Strict(strings.TrimPrefix(tag, "v")) {
		return tag
	}
	return f.Version
}

// matches reports whether a chart has the wanted name and version, as far as these are known.
func matches(wanted, holds *chart.Metadata) bool {
	sameName := wanted.Name == "" || wanted.Name == holds.Name
	return sameName && (wanted.Version == "" || wanted.Version == holds.Version || equal(wanted.Version, holds.Version))
}

func text(m *chart.Metadata) string { return strings.TrimSpace(m.Name + " " + m.Version) }

// OtherChartError says that a chart with a valid signature is another one than was asked for.
type OtherChartError struct {
	// At is where it was fetched; Holds and Wanted are names and versions.
	At, Holds, Wanted string
}

func (e *OtherChartError) Error() string {
	return fmt.Sprintf("%s is signed as chart %s, not as %s: it is not used", e.At, e.Holds, e.Wanted)
}
