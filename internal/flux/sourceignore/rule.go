package sourceignore

import (
	"path"
	"strings"
)

// rule is a line in the syntax of .gitignore, as go-git reads it: a leading "!" includes
// again, a trailing "/" matches only folders, any other "/" anchors the pattern at the folder
// of the file with the rules, "**" is any number of folders. What matches a folder matches
// everything in it.
type rule struct {
	// within are the parts of the path of the folder that the rule applies to.
	within []string
	// parts are those of the pattern; a pattern without "/" has one, and matches at any depth.
	parts    []string
	anywhere bool
	folders  bool
	takesIn  bool
}

// parse reads the rules of a text that applies to a folder.
func parse(text, folder string) (out []rule) {
	var within []string
	if folder != "." {
		within = strings.Split(folder, "/")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		r := rule{within: within}
		line, r.takesIn = strings.CutPrefix(line, "!")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " ")
		}
		line, r.folders = strings.CutSuffix(line, "/")
		r.anywhere = !strings.Contains(line, "/")
		r.parts = strings.Split(line, "/")
		out = append(out, r)
	}
	return out
}

// fits reports whether the rule matches a file, or a folder that contains it.
func (r rule) fits(file []string) bool {
	if len(file) <= len(r.within) {
		return false
	}
	for i, name := range r.within {
		if file[i] != name {
			return false
		}
	}
	file = file[len(r.within):]
	if r.anywhere {
		for i, name := range file {
			if matches(r.parts[0], name) && (!r.folders || i < len(file)-1) {
				return true
			}
		}
		return false
	}
	parts := r.parts
	if parts[0] == "" {
		parts = parts[1:]
	}
	if len(parts) > 0 && parts[len(parts)-1] == "**" { // everything below
		parts = parts[:len(parts)-1]
	}
	end, ok := leads(parts, file)
	return ok && end > 0 && (!r.folders || end < len(file))
}

// leads matches a pattern against the beginning of a file's path, and returns how many parts of
// the path it takes: "**" takes those before the first that matches what comes next.
func leads(pattern, file []string) (taken int, ok bool) {
	anyDepth := false
	for _, p := range pattern {
		switch {
		case p == "":
			anyDepth = false
			continue
		case p == "**":
			anyDepth = true
			continue
		case strings.Contains(p, "**"):
			return 0, false
		}
		for anyDepth && taken < len(file)-1 && !matches(p, file[taken]) {
			taken++
		}
		anyDepth = false
		if taken >= len(file) || !matches(p, file[taken]) {
			return 0, false
		}
		taken++
	}
	return taken, true
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
