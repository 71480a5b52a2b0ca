package gittree

import (
	"context"
	"strings"
)

// Renamed returns what a commit has in place of a file or folder of the working tree that it lacks: the name
// from which git sees it renamed, by its content; "" if it is new. Of a folder nothing may be left, or have gone
// elsewhere, and more must have been renamed than deleted. Files that git does not know yet are new.
func Renamed(ctx context.Context, root, commit, name string) (string, error) {
	// Where a file of a few lines is moved, paths in it change, and little of it stays the same.
	text, err := git(ctx, root, nil, "diff-index", "-z", "--name-status", "--find-renames=30%", "--diff-filter=DR", "--end-of-options", commit)
	if err != nil {
		return "", err
	}
	gone := goneFrom(text)
	found := ""
	for was, is := range gone {
		rest, inside := below(is, name)
		if !inside {
			continue
		}
		before, same := strings.CutSuffix(was, rest)
		if !same || before == "" || found != "" && found != before { // its files are from several folders
			return "", nil
		}
		found = before
	}
	if found == "" {
		return "", nil
	}
	if text, err = git(ctx, root, nil, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", commit, found); err != nil {
		return "", err
	}
	renamed, deleted := 0, 0
	for was := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
		is, moved := gone[was]
		switch _, inside := below(is, name); {
		case inside:
			renamed++
		case moved && is == "":
			deleted++
		default:
			return "", nil
		}
	}
	if deleted >= renamed {
		return "", nil
	}
	return found, nil
}

// goneFrom reads what git diff-index prints of files that a commit has: their new names, "" for deleted ones.
func goneFrom(text string) map[string]string {
	out := map[string]string{}
	const deleted, renamed = 2, 3 // fields: "D" and a name; "R100", the old name and the new one
	for fields := strings.Split(text, "\x00"); len(fields) > deleted; {
		if fields[0] == "D" {
			out[fields[1]], fields = "", fields[deleted:]
		} else {
			out[fields[1]], fields = fields[2], fields[renamed:]
		}
	}
	return out
}

// below returns the rest of a path that is name, or is below it.
func below(file, name string) (rest string, inside bool) {
	rest, inside = strings.CutPrefix(file, name)
	return rest, inside && (rest == "" || rest[0] == '/')
}
