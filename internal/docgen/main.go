// Command docgen writes the generated pages of docs/: the CLI reference and the JSON schemas of
// plans, sets and events. go generate runs it in this folder. With -packages it writes what
// packages contain besides the program: the man page and completions.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

//go:generate go run . ../../docs

func main() {
	packages := flag.Bool("packages", false, "write what packages have besides the program")
	flag.Parse()
	write := run
	if *packages {
		write = packageFiles
	}
	if err := write(flag.Arg(0)); err != nil {
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
		"plan.schema.json": planSchema, "events.schema.json": eventsSchema, "set.schema.json": setSchema,
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
