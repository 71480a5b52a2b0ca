package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/e2e/conformance/local"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// Case is one chart with what a user would give on the command line.
type Case struct {
	Name  string
	Chart string
	// Args are the flags for values, the same for both sides.
	Args []string
	// Values are Args for rendering in this process.
	Values values.Sources
}

// Sides are the two renderers.
type Sides struct {
	Helm, Ours  string // binaries
	KubeVersion string
	// Notes says to compare NOTES.txt, too: Helm's from a client dry run of install,
	// ours from package local.
	Notes bool
}

const (
	releaseName = "conform"
	namespace   = "default"
	runLimit    = 2 * time.Minute
	// dryRunKubeVersion is the Kubernetes version that Helm 4.3.1 assumes in a client
	// dry run of install, which has no flag for it.
	dryRunKubeVersion = "v1.37.0"
)

// Check returns an error unless both programs can be run. Without them every case
// would be an error on both sides, and thus equal.
func (s Sides) Check() error {
	for _, program := range []string{s.Helm, s.Ours} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("look for a side of the comparison: %w", err)
		}
	}
	return nil
}

// Run renders a case twice on each side, and returns the outputs.
func (s Sides) Run(ctx context.Context, c Case) (helm, ours [2]Output) {
	for i := range 2 {
		helm[i] = s.template(ctx, s.Helm, c)
		ours[i] = s.template(ctx, s.Ours, c)
		if s.Notes && helm[i].Failure == "" && ours[i].Failure == "" {
			helm[i].Notes = s.helmNotes(ctx, c)
			ours[i].Notes = ourNotes(c)
		}
	}
	return helm, ours
}

func (s Sides) template(ctx context.Context, binary string, c Case) Output {
	args := []string{"template", releaseName, c.Chart, "--namespace", namespace, "--include-crds", "--kube-version", s.KubeVersion}
	out, err := run(ctx, binary, append(args, c.Args...))
	if err != nil {
		return Output{Failure: err.Error()}
	}
	return Printed(out)
}

func (s Sides) helmNotes(ctx context.Context, c Case) string {
	args := []string{"install", releaseName, c.Chart, "--namespace", namespace, "--dry-run=client", "-o", "json"}
	out, err := run(ctx, s.Helm, append(args, c.Args...))
	if err != nil {
		return "error: " + err.Error()
	}
	var record struct {
		Info struct{ Notes string }
	}
	if err := json.Unmarshal([]byte(out), &record); err != nil {
		return "error: " + err.Error()
	}
	return record.Info.Notes
}

func ourNotes(c Case) string {
	r := local.Request{Release: releaseName, Namespace: namespace, Chart: c.Chart, Values: c.Values, KubeVersion: dryRunKubeVersion}
	out, err := local.Render(r)
	if err != nil {
		return "error: " + err.Error()
	}
	return out.Notes
}

func run(ctx context.Context, binary string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Once renders a case once on each side, for charts that contain nothing random.
func (s Sides) Once(ctx context.Context, c Case) (helm, ours Output) {
	return s.template(ctx, s.Helm, c), s.template(ctx, s.Ours, c)
}
