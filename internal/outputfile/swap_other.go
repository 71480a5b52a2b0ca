//go:build !linux && !darwin

package outputfile

import "errors"

// exchange is not known here.
func exchange(string, string) error { return errors.ErrUnsupported }
