package setrun

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// summed is a chart in the tree without its file:// dependencies: the checksums of its files, by name, and
// where it says that the dependencies are.
type summed struct {
	files map[string]string
	needs []need
}

type need struct {
	name string
	from releaseset.Chart
}

// sum returns a checksum of everything that a chart in the tree is made of: its files except
// those that .helmignore excludes, and those of its file:// dependencies. It does not cover
// the names of folders, or modes and times. A chart that several others depend on counts once.
func (c *charts) sum(which releaseset.Chart) (string, error) {
	if _, err := c.summed(which); err != nil {
		return "", err
	}
	type part struct {
		Files map[string]string
		Needs map[string]int // the names of dependencies, and their places in parts
	}
	var parts []part
	order, place := []releaseset.Chart{which}, map[releaseset.Chart]int{which: 0}
	for i := 0; i < len(order); i++ {
		its, err := c.summed(order[i])
		if err != nil {
			parts = append(parts, part{}) // missing, or not readable: loading the chart says so
			continue
		}
		p := part{its.files, map[string]int{}}
		for _, n := range its.needs {
			if _, known := place[n.from]; !known {
				place[n.from] = len(order)
				order = append(order, n.from)
			}
			p.Needs[n.name] = place[n.from]
		}
		parts = append(parts, p)
	}
	return checksumOf(parts), nil
}

// summed reads a chart once.
func (c *charts) summed(which releaseset.Chart) (summed, error) {
	return once(c, c.sums, which, func() (summed, error) {
		if err := c.there(which); err != nil {
			return summed{}, err
		}
		files, err := chartload.Files(c.at(which.Path), reading(which))
		if err != nil {
			return summed{}, err
		}
		out := summed{files: map[string]string{}}
		for _, f := range files {
			out.files[f.Name] = checksum(f.Data)
			if f.Name != "Chart.yaml" && f.Name != "requirements.yaml" {
				continue
			}
			var declared struct {
				Dependencies []*chart.Dependency `json:"dependencies"`
			}
			if yaml.Unmarshal(f.Data, &declared) != nil {
				continue // loading the chart reports what is wrong with it
			}
			for _, d := range declared.Dependencies {
				if d == nil {
					continue
				}
				folder, local := strings.CutPrefix(d.Repository, "file://")
				if folder, err = releaseset.Join(which.Path, folder); local && err == nil {
					out.needs = append(out.needs, need{d.Name, releaseset.Chart{Path: folder, Source: which.Source}})
				}
			}
		}
		return out, nil
	})
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checksumOf returns the checksum of a value's JSON, in which map keys are sorted.
func checksumOf(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error() // does not happen: JSON can represent all values passed here
	}
	return checksum(data)
}
