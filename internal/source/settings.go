package source

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// ReadSettings reads sources.yaml; one that is not there says nothing.
func (p Paths) ReadSettings() (resolve.Settings, error) {
	data, err := inputfile.Read(p.Settings, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return resolve.Settings{}, nil
	}
	if err != nil {
		return resolve.Settings{}, fmt.Errorf("read the settings of sources: %w", err)
	}
	settings, err := resolve.ParseSettings(data)
	if err != nil {
		return settings, fmt.Errorf("read %s: %w", p.Settings, err)
	}
	return settings, nil
}
