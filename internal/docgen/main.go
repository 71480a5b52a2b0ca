// Command docgen writes the generated pages of docs/: the CLI reference and the
// JSON schema of plans. It is run by go generate, in the folder of the module.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

//go:generate go run . ../../docs

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	var cli bytes.Buffer
	if err := command.Reference(&cli); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cli.md"), cli.Bytes(), 0o644); err != nil {
		return err
	}
	schema, err := planSchema()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "plan.schema.json"), schema, 0o644)
}
