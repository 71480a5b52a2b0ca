package outputfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// regular follows links and refuses devices, pipes and folders: a rename would replace
// them with a file.
func regular(file string) (string, error) {
	target, err := follow(file, users{os.Geteuid(), owner})
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(target)
	if os.IsNotExist(err) {
		// What is there now and is no link was written by somebody else at this moment.
		if there, gone := os.Lstat(file); gone != nil || there.Mode()&os.ModeSymlink == 0 {
			return target, nil
		}
	}
	if err != nil { // a dangling link, too
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", file)
	}
	return target, nil
}

// users has the caller's ID and finds out who owns a file; known is false where the
// system has no owners.
type users struct {
	me    int
	owner func(os.FileInfo) (id int, known bool)
}

// follow returns where a path leads, which need not exist. A link on the way is
// followed only when it belongs to the caller or to the folder's owner, as Linux does
// in folders such as /tmp (fs.protected_symlinks in
// https://docs.kernel.org/admin-guide/sysctl/fs.html): with one, others could choose
// which file is replaced.
func follow(file string, by users) (string, error) {
	const most = 40 // links, as Linux
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	done, rest := root, strings.TrimPrefix(path, root)
	for links := 0; rest != ""; {
		part, remaining, _ := strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(done, part)
		info, err := os.Lstat(next)
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			done, rest = next, remaining
			continue
		}
		if links++; links > most {
			return "", fmt.Errorf("%s: too many links", file)
		}
		if err := by.trust(next, info, done); err != nil {
			return "", err
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(done, to)
		}
		root = filepath.VolumeName(to) + string(filepath.Separator)
		done, rest = root, strings.TrimPrefix(filepath.Join(to, remaining), root)
	}
	return done, nil
}

// trust returns an error for a link that belongs neither to the caller nor to the owner
// of its folder.
func (u users) trust(link string, info os.FileInfo, folder string) error {
	around, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if id, known := u.owner(info); known && id != u.me {
		if of, _ := u.owner(around); of != id {
			return fmt.Errorf("%s is a link created by another user (ID %d): write elsewhere, or remove it", link, id)
		}
	}
	return nil
}
