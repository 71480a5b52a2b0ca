package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/templating"
)

func lookupFlag(to *optional[string], category string) cli.Flag {
	return &cli.StringFlag{Name: "lookup", Destination: &to.value, Action: to.note, Usage: "without a cluster: what the function lookup finds, a `FILE` or folder of objects in YAML or JSON", Category: category}
}

// lookup returns a function that answers templates' lookups from the objects of --lookup; nil
// without the flag.
func (p *program) lookup(name, namespace string) (templating.LookupFunc, error) {
	if name == "" {
		return nil, nil
	}
	files, err := lookupFiles(name)
	if err != nil {
		return nil, fmt.Errorf("--lookup: %w", err)
	}
	var objects []manifest.Object
	for _, file := range files {
		data, err := p.readFile("--lookup", file)
		if err != nil {
			return nil, fmt.Errorf("--lookup: %w", err)
		}
		for _, doc := range manifest.Split(string(data)) {
			parsed, err := manifest.ParseDocument(doc, file)
			if err != nil {
				return nil, fmt.Errorf("--lookup: %w", err)
			}
			objects = append(objects, parsed...)
		}
	}
	return engine.LookupIn(objects, namespace), nil
}

// lookupFiles returns the file itself, or the YAML and JSON files of a folder but not of its
// subfolders, like kubectl apply -f.
func lookupFiles(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return []string{name}, err
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json":
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	return files, nil
}
