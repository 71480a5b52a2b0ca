package repository

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// groupEnding ends all of Flux's API groups.
const groupEnding = ".toolkit.fluxcd.io"

func (r *Repository) file(name string) error {
	data, err := fs.ReadFile(r.tree, name)
	if err != nil {
		return err
	}
	return r.Add(data, name)
}

// Add reads the objects of a text; from names the file or folder it is from. A text that is
// not YAML is an error.
func (r *Repository) Add(data []byte, from string) error {
	objects, err := parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	for _, o := range objects {
		o = inNamespace(o)
		if _, twice := r.index[identity(o)]; !twice {
			r.index[identity(o)] = len(r.objects)
		}
		r.objects = append(r.objects, placed{object: o, from: from})
	}
	return nil
}

func (r *Repository) folder(dir string) error {
	read := 0
	return fs.WalkDir(r.tree, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || releaseset.IsChart(r.tree, name)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		if read++; read > maxFiles {
			return fmt.Errorf("%s has more than %d files", dir, maxFiles)
		}
		if err := r.file(name); err != nil {
			r.passOver(name, err)
		}
		return nil
	})
}

// passOver records why a file below a folder is not read: as unread when it names one of Flux's
// groups, as there may be releases in it, else as a warning.
func (r *Repository) passOver(name string, why error) {
	if data, err := fs.ReadFile(r.tree, name); err != nil || bytes.Contains(data, []byte(groupEnding+"/")) {
		r.Unread = append(r.Unread, why.Error())
		return
	}
	r.Warnings = append(r.Warnings, why.Error())
}

// Each visits the objects of a group and kind, with the file or folder each is from.
func (r *Repository) Each(ofGroup, kind string, visit func(object map[string]any, from string)) {
	for _, p := range r.objects {
		if group(p.object) == ofGroup && p.object["kind"] == kind {
			visit(p.object, p.from)
		}
	}
}
