package command

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// nameFlags ask for a generated release name.
type nameFlags struct {
	generate bool
	template string
}

func (o *nameFlags) madeUp() bool { return o.generate || o.template != "" }

// arguments returns how many arguments there may be: NAME CHART, or only CHART.
func (o *nameFlags) arguments() (least, most int) {
	if o.madeUp() {
		return 1, 2
	}
	return 2, 2
}

// nameAndChart parses these arguments into a release name, given or generated, and the chart.
func (o *nameFlags) nameAndChart(args []string) (name, path string, err error) {
	switch {
	case !o.madeUp():
		return args[0], args[1], nil
	case len(args) == 2:
		return "", "", usage("give a NAME or have one generated, not both")
	case o.template != "":
		name, err = fromTemplate(o.template)
		return name, args[0], err
	}
	return generated(args[0], time.Now()), args[0], nil
}

// generated returns a name as Helm generates it (Helm 4.3.1, pkg/action/install.go, NameAndChart):
// the base name of the chart's path up to its first dot, since most objects may not have a dot in their
// names, and the Unix time in seconds.
func generated(path string, now time.Time) string {
	if resolve.IsRegistry(path) {
		if image, _, err := resolve.ParseImage(path); err == nil {
			path = image.Name()
		}
	}
	base := filepath.Base(path)
	if base == "." || base == "" {
		base = "chart"
	}
	base, _, _ = strings.Cut(base, ".")
	return fmt.Sprintf("%s-%d", base, now.Unix())
}

// fromTemplate executes --name-template. It is the user's own, so it may read the environment, as with
// Helm (4.3.1, pkg/action/install.go, TemplateName).
func fromTemplate(text string) (string, error) {
	t, err := template.New("name").Funcs(sprig.TxtFuncMap()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("--name-template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, nil); err != nil {
		return "", fmt.Errorf("--name-template: %w", err)
	}
	return b.String(), nil
}

func isNoRelease(err error) bool {
	var missing *engine.NoReleaseError
	return errors.As(err, &missing)
}

func releaseName(name string) error {
	if !release.ValidName(name) {
		return usage("%q is not a valid release name: use lower-case letters, digits, dashes and dots, at most %d characters", name, release.LongestName)
	}
	return nil
}
