package gittree

import (
	"context"
	"strings"
)

// Renamed returns what a commit has in place of a file or folder of the working tree that it lacks: the name
// from which git sees it renamed, by its content; "" if it is new. Files that git does not know yet are new.
func Renamed(ctx context.Context, root, commit, name string) (string, error) {
	// Where a file of a few lines is moved, paths in it change, and little of it stays the same.
	text, err := git(ctx, root, nil, "diff-index", "-z", "--name-status", "--find-renames=30%", "--diff-filter=R", "--end-of-options", commit)
	if err != nil {
		return "", err
	}
	fields, found := strings.Split(text, "\x00"), ""
	const each = 3 // "R100", the old name, the new name
	for ; len(fields) >= each; fields = fields[each:] {
		was, is := fields[1], fields[2]
		below, inside := strings.CutPrefix(is, name)
		before, same := strings.CutSuffix(was, below)
		switch {
		case !inside || below != "" && below[0] != '/':
		case !same || before == "" || found != "" && found != before: // its files are from several folders
			return "", nil
		default:
			found = before
		}
	}
	return found, nil
}
