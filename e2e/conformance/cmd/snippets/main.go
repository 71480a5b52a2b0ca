// Command snippets checks the snippets of templating's tests against Helm: what
// they want must be what Helm renders, and an error must also be an error in Helm.
// Those named limit-* are ours alone: Helm has no such limits.
//
//	go run ./cmd/snippets --helm helm ../../templating/testdata/snippets/*.txtar
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

func main() {
	helm := flag.String("helm", "helm", "Helm 4.3.1")
	flag.Parse()
	different := 0
	for _, file := range flag.Args() {
		if strings.HasPrefix(filepath.Base(file), "limit-") {
			continue
		}
		if err := check(*helm, file); err != nil {
			different++
			fmt.Printf("%s: %v\n", filepath.Base(file), err)
		}
	}
	fmt.Printf("%d of %d snippets differ or were left out\n", different, flag.NArg())
	if different > 0 {
		os.Exit(1)
	}
}

func check(helm, file string) error {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "snippet")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: t\nversion: 1.2.3\n"}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
		if strings.HasPrefix(f.Name, "templates/") {
			files[f.Name] = strings.TrimSuffix(files[f.Name], "\n")
		}
	}
	want, expectsText := files["want"]
	delete(files, "want")
	delete(files, "error")
	if err := write(dir, files); err != nil {
		return err
	}
	got, failure := render(helm, dir)
	switch {
	case expectsText && failure != "":
		return fmt.Errorf("helm fails: %s", failure)
	case expectsText && strings.TrimSpace(want) != got:
		return fmt.Errorf("helm renders %q and the snippet wants %q", got, strings.TrimSpace(want))
	case !expectsText && failure == "":
		return fmt.Errorf("helm renders %q and the snippet wants an error", got)
	}
	return nil
}

func write(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

const mark = "# Source: t/templates/x.yaml\n"

// render returns what x.yaml rendered to. With --debug, Helm prints the output even if
// it is not YAML, which it seldom is for snippets.
func render(helm, dir string) (text, failure string) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(helm, "template", "r", dir, "--debug", "--kube-version", "v1.36.3", "--namespace", "default")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	_, text, rendered := strings.Cut(stdout.String(), mark)
	if !rendered && err != nil {
		return "", strings.TrimSpace(stderr.String())
	}
	text, _, _ = strings.Cut(text, "---\n# Source: ")
	return strings.TrimSpace(text), ""
}
