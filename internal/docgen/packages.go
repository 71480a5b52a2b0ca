package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

// packageFiles writes the man page kubectl-release.1, made from the CLI reference, the completion
// scripts bash, zsh and fish, and kubectl_complete-release for completion by kubectl.
func packageFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	page, err := manPage()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "kubectl-release.1"), page, 0o644); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "bash", "zsh": "zsh", "fish": "fish", "kubectl": "kubectl_complete-release"} {
		var script, failed bytes.Buffer
		args := []string{"kubectl-release", "completion", shell}
		if code := command.Main(context.Background(), nil, args, command.Streams{Out: &script, Err: &failed}); code != 0 {
			return fmt.Errorf("completion %s: %s", shell, failed.String())
		}
		if err := os.WriteFile(filepath.Join(dir, name), script.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// row matches a row in the reference's tables of flags.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")

// manPage returns the CLI reference as a man page of section 1, with lists instead of tables.
func manPage() ([]byte, error) {
	var reference bytes.Buffer
	if err := command.Reference(&reference); err != nil {
		return nil, err
	}
	_, commands, found := strings.Cut(reference.String(), "\n## ")
	if !found {
		return nil, errors.New("the reference has no commands")
	}
	text := "% KUBECTL-RELEASE 1 \"\" \"kubectl-release\" \"User Commands\"\n" +
		"# NAME\nkubectl-release - deploy Helm charts: plan, then apply\n\n" +
		"# COMMANDS\nEvery command also takes the connection flags. Flags may stand anywhere on the line.\n\n## " +
		strings.ReplaceAll(commands, "| flag | meaning |\n|---|---|\n", "")
	return md2man.Render([]byte(row.ReplaceAllString(text, "**$1**\n: $2\n"))), nil
}
