package dependency

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

const (
	chartsFolder = "charts"
	maxLockBytes = 8 << 20
	// unfinished is the prefix for names of folders in which a new charts/ is prepared.
	unfinished = outputfile.Prefix + "charts-"
)

// archive is a .tgz file in charts/.
type archive struct {
	file string
	data []byte
	// chart is nil if it can't be loaded.
	chart *chart.Metadata
}

// folder is what a chart's folder holds before anything changes.
type folder struct {
	path     string
	chart    *chart.Chart
	warnings []chart.Warning
	// lockFile is the file name of the lock that is written; lock is nil if there is none, and
	// readFrom is its file name.
	lockFile, readFrom string
	lock               *resolve.Lock
	archives           []archive
	// unpacked are the names of the folders in charts/.
	unpacked []string
}

// readFolder reads a chart's folder, except for the content of folders in charts/.
func readFolder(path string, o chartload.Options) (*folder, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder; dependencies can only be fetched for a chart folder", path)
	}
	f := &folder{path: path}
	for _, name := range []string{chartsFolder, "Chart.lock", "requirements.lock"} {
		if err := f.refuseLink(name); err != nil {
			return nil, err
		}
	}
	var err error
	if f.chart, f.warnings, err = chartload.Alone(path, o); err != nil {
		return nil, err
	}
	f.lockFile = resolve.LockName(f.chart.Metadata)
	if err := f.readLock(); err != nil {
		return nil, err
	}
	return f, f.readCharts()
}

// refuseLink returns an error if a name in the folder is a symbolic link:
// whatever is written or removed through it would be somewhere else.
func (f *folder) refuseLink(name string) error {
	at := filepath.Join(f.path, name)
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		to, _ := os.Readlink(at)
		return fmt.Errorf("%s is a link to %s: dependencies are not written through links", at, to)
	}
	return err
}

// readLock reads the lock. If there is none, that of the other apiVersion counts, such as the
// requirements.lock of a chart that has become v2 since (Helm 4.3.1, pkg/chart/v2/loader/load.go,
// LoadFiles).
func (f *folder) readLock() error {
	for _, name := range []string{f.lockFile, "Chart.lock", "requirements.lock"} {
		file := filepath.Join(f.path, name)
		data, err := inputfile.Read(file, maxLockBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			f.lock, err = resolve.ParseLock(data)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		f.readFrom = name
		return nil
	}
	return nil
}

// readCharts reads the archives in charts/.
func (f *folder) readCharts() error {
	entries, err := os.ReadDir(filepath.Join(f.path, chartsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(chartsFolder, e.Name())
		switch {
		case e.IsDir():
			f.unpacked = append(f.unpacked, e.Name())
			continue
		case filepath.Ext(e.Name()) != ".tgz":
			continue
		}
		if err := f.refuseLink(name); err != nil {
			return err
		}
		data, err := inputfile.Read(filepath.Join(f.path, name), source.MaxArchiveBytes)
		if err != nil {
			return err
		}
		a := archive{file: e.Name(), data: data}
		if loaded, _, err := chartload.Archive(bytes.NewReader(data), name); err == nil {
			a.chart = loaded.Metadata
		}
		f.archives = append(f.archives, a)
	}
	return nil
}

// sweep removes what killed runs have left behind. The caller holds the chart's lock.
func (f *folder) sweep() error {
	for folder, prefix := range map[string]string{f.path: unfinished, filepath.Join(f.path, chartsFolder): outputfile.Prefix} {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), prefix) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// has reports whether charts/ holds the file with this content.
func (f *folder) has(file string, data []byte) bool {
	for _, a := range f.archives {
		if a.file == file {
			return bytes.Equal(a.data, data)
		}
	}
	return false
}

// vendored returns the versions of the charts of a name that charts/ holds, as archives or as a folder of
// that name.
func (f *folder) vendored(name string, o chartload.Options) (versions []string, err error) {
	for _, a := range f.archives {
		if a.chart != nil && a.chart.Name == name {
			versions = append(versions, a.chart.Version)
		}
	}
	folder := filepath.Join(f.path, chartsFolder, name)
	if _, err := os.Stat(filepath.Join(folder, "Chart.yaml")); err != nil {
		return versions, nil
	}
	unpacked, _, err := chartload.Alone(folder, o)
	if err != nil {
		return nil, err
	}
	return append(versions, unpacked.Metadata.Version), nil
}
