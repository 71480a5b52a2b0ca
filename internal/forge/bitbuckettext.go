package forge

import (
	"html"
	"net/url"
	"regexp"
	"strings"
)

// hiddenReference begins a line that stays hidden where HTML would be shown as source: the
// definition of a link that nothing refers to.
const hiddenReference = "[kubectl-release]: #"

var (
	htmlComment = regexp.MustCompile(`^<!-- (.*) -->$`)
	codeTag     = regexp.MustCompile(`<code>(.*?)</code>`)
	folding     = regexp.MustCompile(`<details><summary>(.*?)</summary>`)
	lineBreak   = regexp.MustCompile(`<br ?/?>`)
	anyTag      = regexp.MustCompile(`</?[a-z]+>|<!--.*?-->`)
	alertTitle  = regexp.MustCompile(`^> \[!([A-Z]+)\]$`)
)

// toBitbucket hides the first two lines of a comment, by which it is found again.
func toBitbucket(body string) string {
	lines := strings.SplitN(body, "\n", 3)
	for i := range min(2, len(lines)) {
		if m := htmlComment.FindStringSubmatch(lines[i]); m != nil {
			lines[i] = hiddenReference + url.PathEscape(m[1])
			if i == 1 && len(lines) > 2 {
				lines[2] = "\n" + lines[2] // a definition ends at an empty line
			}
		}
	}
	return strings.Join(lines, "\n")
}

// fromBitbucket reverses toBitbucket.
func fromBitbucket(raw string) string {
	lines := strings.Split(strings.ReplaceAll(raw, "\r\n", "\n"), "\n")
	hidden := 0
	for ; hidden < min(2, len(lines)); hidden++ {
		escaped, ok := strings.CutPrefix(lines[hidden], hiddenReference)
		text, err := url.PathUnescape(escaped)
		if !ok || err != nil {
			break
		}
		lines[hidden] = "<!-- " + text + " -->"
	}
	if hidden == 2 && len(lines) > 2 && lines[2] == "" {
		lines = append(lines[:2], lines[3:]...)
	}
	return strings.Join(lines, "\n")
}

// withoutHTML returns the Markdown with collapsed sections expanded and all other HTML converted
// to Markdown or removed. Fenced code stays as it is, except for Mermaid diagrams, which go.
func withoutHTML(markdown string) string {
	var out strings.Builder
	fence, drawing := "", false
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(text)
		switch {
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, "`") == "":
			fence = ""
			if drawing {
				drawing = false
				continue
			}
		case fence != "":
			if drawing {
				continue
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			if drawing = strings.TrimPrefix(trimmed, fence) == "mermaid"; drawing {
				continue
			}
		default:
			if text = lineWithoutHTML(text); text == "" && trimmed != "" {
				continue
			}
		}
		out.WriteString(text + "\n")
	}
	return out.String()
}

func lineWithoutHTML(line string) string {
	if htmlComment.MatchString(line) {
		return ""
	}
	if m := alertTitle.FindStringSubmatch(line); m != nil {
		return "> **" + m[1] + "**\n>"
	}
	line = codeTag.ReplaceAllStringFunc(line, func(tag string) string {
		return "`" + html.UnescapeString(anyTag.ReplaceAllString(codeTag.FindStringSubmatch(tag)[1], "")) + "`"
	})
	if strings.HasPrefix(line, "<details>") {
		line = folding.ReplaceAllString(line, "**$1**")
	}
	line = folding.ReplaceAllString(line, " $1: ")
	return anyTag.ReplaceAllString(lineBreak.ReplaceAllString(line, " · "), "")
}
