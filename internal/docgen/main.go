// Command docgen writes the generated pages of docs/: the CLI reference and the
// JSON schemas of plans and events. It is run by go generate, in the folder of the module.
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
	for name, make := range map[string]func() ([]byte, error){
		"plan.schema.json": planSchema, "events.schema.json": eventsSchema,
	} {
		schema, err := make()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), schema, 0o644); err != nil {
			return err
		}
	}
	return nil
}
