package command

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// nameAndChart reads install's arguments: NAME CHART, or only CHART when the
// name is made up.
func (p *program) nameAndChart(c *cli.Context) (name, path string, err error) {
	if !c.Bool("generate-name") && c.String("name-template") == "" {
		args, err := arguments(c, 2, 2)
		if err != nil {
			return "", "", err
		}
		return args[0], args[1], nil
	}
	args, err := arguments(c, 1, 2)
	if err != nil {
		return "", "", err
	}
	if len(args) == 2 {
		return "", "", usage("give a NAME or have one made up, not both")
	}
	if text := c.String("name-template"); text != "" {
		name, err = fromTemplate(text)
		return name, args[0], err
	}
	return generated(args[0], time.Now()), args[0], nil
}

// generated is Helm's form: the chart's base name and the time in seconds.
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
	base = strings.TrimSuffix(base, ".tgz")
	if i := strings.LastIndexByte(base, '-'); i > 0 && strings.ContainsAny(base[i:], "0123456789") && strings.HasSuffix(path, ".tgz") {
		base = base[:i]
	}
	return fmt.Sprintf("%s-%d", base, now.Unix())
}

func fromTemplate(text string) (string, error) {
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	t, err := template.New("name").Funcs(functions).Parse(text)
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

// validName is Helm's rule for release names: a DNS label of at most 53
// characters, dots allowed.
var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

const longestName = 53

func releaseName(name string) error {
	if len(name) > longestName || !validName.MatchString(name) {
		return usage("%q is no release name: lower-case letters, digits, dashes and dots, at most %d characters", name, longestName)
	}
	return nil
}
