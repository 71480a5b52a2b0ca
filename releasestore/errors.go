package releasestore

import (
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Record names one stored revision in errors.
type Record struct {
	Key     release.Key
	Version int
	// Kind and Object are the kind and name of the object that holds the record:
	// "Secret", "sh.helm.release.v1.web.v7".
	Kind   string
	Object string
}

// String returns "web revision 7 (Secret shop/sh.helm.release.v1.web.v7)".
func (r Record) String() string {
	return fmt.Sprintf("%s revision %d (%s %s/%s)", r.Key.Name, r.Version, r.Kind, r.Key.Namespace, r.Object)
}

// ConflictError says that another process has written a record since this store
// last read or wrote it.
type ConflictError struct{ Record }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("record of %s: someone else has changed it in the meantime", e.Record)
}

// ExistsError says that a revision's number is taken.
type ExistsError struct{ Record }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("record of %s: it already exists; another operation wrote it", e.Record)
}

// NotFoundError says that a revision is not, or no longer, stored.
type NotFoundError struct{ Record }

func (e *NotFoundError) Error() string { return fmt.Sprintf("record of %s: not found", e.Record) }

// UnreachedDatabaseError says that no connection to the database of HELM_DRIVER=sql was made, and why.
// Database has no password.
type UnreachedDatabaseError struct {
	Database string
	Reason   error
}

func (e *UnreachedDatabaseError) Error() string {
	return fmt.Sprintf("connect to PostgreSQL (%s): %v", e.Database, e.Reason)
}

// Unwrap returns the reason.
func (e *UnreachedDatabaseError) Unwrap() error { return e.Reason }

// CorruptError says that a stored record can't be read, and why. Version is 0
// when it is not known from the object's name either.
type CorruptError struct {
	Record
	Reason error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("record of %s can't be read: %s", e.Record, e.Reason)
}

// TooMuch reports whether the record was not read because the records read with it had used up
// the budget; read alone it may be fine.
func (e *CorruptError) TooMuch() bool {
	return errors.Is(e.Reason, errBudget) || errors.Is(e.Reason, errScanned) || errors.Is(e.Reason, errEntries)
}

// OverLimit reports whether the record was not read because it is too large even alone. Helm has no such limits
// (4.3.1, pkg/storage/driver/util.go, decodeRelease).
func (e *CorruptError) OverLimit() bool {
	return errors.Is(e.Reason, errTooLong) || errors.Is(e.Reason, release.ErrTooMany) || errors.Is(e.Reason, release.ErrTooLarge)
}

// Unwrap returns the reason.
func (e *CorruptError) Unwrap() error { return e.Reason }

// TooLargeError says that a revision does not fit into the store. Size and Max
// are in bytes.
type TooLargeError struct {
	Record
	Size, Max int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("record of %s: %d bytes packed are more than the %d that a %s can hold; move large files out of the chart or split it",
		e.Record, e.Size, e.Max, e.Kind)
}

// Status implements apierrors.APIStatus: package apply recognises the error by its reason.
func (e *TooLargeError) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusRequestEntityTooLarge,
		Reason: metav1.StatusReasonRequestEntityTooLarge, Message: e.Error(),
	}
}

// Corrupt splits an error of History or List. ok is true when err consists of
// corrupt records only, so what was returned with it is all that can be read;
// corrupt holds them, newest first.
func Corrupt(err error) (corrupt []*CorruptError, ok bool) {
	if joined, many := err.(interface{ Unwrap() []error }); many {
		for _, e := range joined.Unwrap() {
			some, ok := Corrupt(e)
			if !ok {
				return nil, false
			}
			corrupt = append(corrupt, some...)
		}
		return corrupt, true
	}
	var one *CorruptError
	if errors.As(err, &one) {
		return []*CorruptError{one}, true
	}
	return nil, err == nil
}
