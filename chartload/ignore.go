package chartload

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
)

// ignoreRules are the lines of a .helmignore file, in order.
type ignoreRules []ignoreRule

// ignoreRule is one line. Unlike in .gitignore, a negated rule excludes everything that it does not
// match.
type ignoreRule struct {
	pattern string
	// baseOnly compares the pattern with the last path element only.
	baseOnly bool
	negated  bool
	dirsOnly bool
}

// parseIgnore reads a .helmignore file and adds Helm's own rule that excludes hidden files in
// templates/ (https://github.com/helm/helm/blob/v4.3.1/pkg/ignore/rules.go: AddDefaults, parseRule,
// and Ignore for what a rule matches).
func parseIgnore(data []byte) (ignoreRules, error) {
	var rules ignoreRules
	for i, line := range bytes.Split(withoutBOM(data), []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		rule, err := parseIgnoreRule(text)
		if err != nil {
			return nil, fmt.Errorf(".helmignore line %d: %w", i+1, err)
		}
		rules = append(rules, rule)
	}
	return append(rules, ignoreRule{pattern: "templates/.?*"}), nil
}

func parseIgnoreRule(text string) (ignoreRule, error) {
	if strings.Contains(text, "**") {
		return ignoreRule{}, errors.New("** is not supported")
	}
	if _, err := path.Match(text, "abc"); err != nil {
		return ignoreRule{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	var r ignoreRule
	text, r.negated = strings.CutPrefix(text, "!")
	text, r.dirsOnly = strings.CutSuffix(text, "/")
	text, rooted := strings.CutPrefix(text, "/")
	r.baseOnly = !rooted && !strings.Contains(text, "/")
	r.pattern = text
	return r, nil
}

// match reports whether a file or folder is excluded. name is relative to the chart. The first rule
// that excludes it decides; no rule can include it again.
func (rules ignoreRules) match(name string, isDir bool) bool {
	for _, r := range rules {
		subject := name
		if r.baseOnly {
			subject = path.Base(name)
		}
		hit, err := path.Match(r.pattern, subject)
		hit = hit && err == nil
		switch {
		case r.negated && (r.dirsOnly && !isDir || !hit):
			return true
		case r.negated || r.dirsOnly && !isDir:
			continue
		case hit:
			return true
		}
	}
	return false
}
