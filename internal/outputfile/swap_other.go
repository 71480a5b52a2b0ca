//go:build !linux && !darwin

package outputfile

import "errors"

// exchange is not supported here.
func exchange(string, string) error { return errors.ErrUnsupported }
