package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// maxConfigBytes limits the size of a configuration file.
const maxConfigBytes = 8 << 20

// lockWait is how long to wait for another process's lock on repositories.yaml, as in Helm
// (Helm 4.3.1, pkg/cmd/repo_add.go, run).
const lockWait = 30 * time.Second

// Repositories reads repositories.yaml; a missing file has no entries.
func (s *Sources) Repositories() (*resolve.Repositories, error) {
	data, err := inputfile.Read(s.Paths.RepositoryConfig, maxConfigBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the repositories: %w", err)
	}
	r, err := resolve.ParseRepositories(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Paths.RepositoryConfig, err)
	}
	return r, nil
}

// changeRepositories reads repositories.yaml under Helm's lock, calls change, which reports
// whether anything is different, and writes the file with mode 0600.
func (s *Sources) changeRepositories(ctx context.Context, change func(*resolve.Repositories) (bool, error)) error {
	unlock, err := locked(ctx, s.Paths.repositoriesLock())
	if err != nil {
		return err
	}
	defer unlock()
	r, err := s.Repositories()
	if err != nil {
		return err
	}
	changed, err := change(r)
	if err != nil || !changed {
		return err
	}
	data, err := r.Bytes()
	if err != nil {
		return err
	}
	if err := outputfile.Write(s.Paths.RepositoryConfig, data, 0o600); err != nil {
		return fmt.Errorf("write the repositories: %w", err)
	}
	return nil
}

// locked takes a file lock, waiting up to lockWait for other processes. Errors: errNoFolder if file is "".
func locked(ctx context.Context, file string) (unlock func(), err error) {
	if file == "" {
		return nil, errNoFolder
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(file)
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return func() { _ = lock.Unlock() }, nil
}

// LockChart keeps other runs from changing the dependencies of the chart in a folder until
// unlock is called. The lock file is not in that folder.
func (s *Sources) LockChart(ctx context.Context, folder string) (unlock func(), err error) {
	real, err := filepath.EvalSymlinks(folder)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	return locked(ctx, below(s.Paths.Cache, "kubectl-release", "locks", strings.TrimPrefix(Digest([]byte(real)), "sha256:")))
}

// AddRepository fetches a repository's index and writes its entry with absolute file names, and
// its password to where sources.yaml says. If an equal entry exists, it fetches and writes
// nothing: added is false. With replace the index is fetched all the same (Helm 4.3.1,
// pkg/cmd/repo_add.go, run), and a different entry with the name is replaced. Errors, after which
// the entry is not written: *resolve.ExistsError for such an entry without replace; the index
// can't be fetched or read.
func (s *Sources) AddRepository(ctx context.Context, e resolve.Repository, replace bool) (added bool, err error) {
	if err := resolve.ValidRepositoryName(e.Name); err != nil {
		return false, err
	}
	known, err := s.Repositories()
	if err != nil {
		return false, err
	}
	if same, err := s.same(ctx, known, e, true); err != nil || same && !replace {
		return false, err // perhaps written by Helm, which keeps file names as they are given
	}
	files, err := e.Server().Files(filepath.Abs)
	if err != nil {
		return false, err
	}
	e.CAFile, e.CertFile, e.KeyFile = files.CAFile, files.CertFile, files.KeyFile
	if same, err := s.same(ctx, known, e, replace); err != nil || same && !replace {
		return false, err
	}
	if _, err := s.fetchIndex(ctx, e.Name, e.URL, accessOf(e)); err != nil {
		return false, err
	}
	err = s.changeRepositories(ctx, func(r *resolve.Repositories) (bool, error) {
		same, err := s.same(ctx, r, e, replace)
		if err != nil || same {
			return false, err
		}
		kept, err := s.helpKeep(ctx, e)
		if err != nil {
			return false, err
		}
		return true, r.Set(kept)
	})
	return err == nil, err
}

// same reports whether an equal entry exists, with its password where it would be stored now.
// Errors: *resolve.ExistsError.
func (s *Sources) same(ctx context.Context, known *resolve.Repositories, e resolve.Repository, replace bool) (bool, error) {
	if s.helper() == nil || e.Password == "" {
		return known.Same(e, replace)
	}
	kept := e
	kept.Password = ""
	if same, err := known.Same(kept, replace); err != nil || !same {
		return false, err
	}
	password, err := s.helperPassword(ctx, e.Username, e.URL)
	if err == nil && password != e.Password && !replace {
		err = &resolve.ExistsError{Name: e.Name, URL: e.URL}
	}
	return password == e.Password, err
}

// RemoveRepository removes a repository's entry, cached index and password. Errors:
// *NoRepositoryError.
func (s *Sources) RemoveRepository(ctx context.Context, name string) error {
	err := s.changeRepositories(ctx, func(r *resolve.Repositories) (bool, error) {
		e, there := r.Find(name)
		if !there {
			return false, &NoRepositoryError{Name: name}
		}
		r.Remove(name)
		if _, more := r.At(e.URL); more {
			return true, nil // another entry uses the same password
		}
		return true, s.helpForget(ctx, e)
	})
	if err != nil {
		return err
	}
	for _, file := range []string{s.Paths.index(name), s.Paths.charts(name), s.Paths.answer(name)} {
		if err := os.Remove(file); !gone(err) {
			return fmt.Errorf("remove the cached index of %s: %w", name, err)
		}
	}
	return nil
}

// NoRepositoryError says that repositories.yaml has no repository with a name.
type NoRepositoryError struct{ Name string }

func (e *NoRepositoryError) Error() string { return fmt.Sprintf("there is no repository %q", e.Name) }
