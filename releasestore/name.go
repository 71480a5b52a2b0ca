package releasestore

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// namePrefix is the prefix of the names of stored records (Helm 4.3.1, pkg/storage/storage.go,
// HelmStorageType).
const namePrefix = "sh.helm.release.v1."

// ObjectName returns the name of the Secret or ConfigMap of a revision:
// "sh.helm.release.v1.web.v7" (Helm 3 and 4).
func ObjectName(releaseName string, version int) string {
	return namePrefix + releaseName + ".v" + strconv.Itoa(version)
}

// maxVersion is the highest number of a revision: Helm's SQL column for it and several of its Go
// types have 32 bits. The next number must fit, too.
const maxVersion = math.MaxInt32 - 1

// checkVersion returns an error for numbers that no tool gives to a revision.
func checkVersion(version int) error {
	if version < 1 || version > maxVersion {
		return fmt.Errorf("its number, %d, is not between 1 and %d", version, maxVersion)
	}
	return nil
}

// parseName reads an ObjectName. ok is false for every other name.
func parseName(objectName string) (releaseName string, version int, ok bool) {
	rest, ok := strings.CutPrefix(objectName, namePrefix)
	if !ok {
		return "", 0, false
	}
	i := strings.LastIndex(rest, ".v")
	if i < 1 {
		return "", 0, false
	}
	version, err := strconv.Atoi(rest[i+2:])
	if err != nil || ObjectName(rest[:i], version) != objectName {
		return "", 0, false
	}
	return rest[:i], version, true
}

// Labels of stored records (Helm 4.3.1, pkg/storage/driver/util.go, GetSystemLabels). createdAt and
// modifiedAt are Unix times in seconds.
const (
	labelName       = "name"
	labelOwner      = "owner"
	labelStatus     = "status"
	labelVersion    = "version"
	labelCreatedAt  = "createdAt"
	labelModifiedAt = "modifiedAt"

	ownerHelm = "helm"
)

// CheckLabels returns an error for labels that a user can't give to records: the store's own, and those that the
// objects which hold the records can't have. Rows of a database can have any (Helm 4.3.1, pkg/action/install.go,
// RunWithContext, and upgrade.go, prepareUpgrade, refuse only the store's own; the API server refuses the rest).
func (s *Store) CheckLabels(labels map[string]string) error {
	kind := s.Kind()
	objects := kind == secrets{}.kind() || kind == configMaps{}.kind()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if Reserved(key) {
			return fmt.Errorf("%q is reserved for the record itself", key)
		}
		if wrong := validation.IsQualifiedName(key); objects && len(wrong) > 0 {
			return fmt.Errorf("%q can't be the key of a label: %s", key, wrong[0])
		}
		if wrong := validation.IsValidLabelValue(labels[key]); objects && len(wrong) > 0 {
			return fmt.Errorf("%q can't be the value of a label: %s", labels[key], wrong[0])
		}
	}
	return nil
}

// Reserved reports whether a label of stored records is the store's own.
func Reserved(label string) bool {
	switch label {
	case labelName, labelOwner, labelStatus, labelVersion, labelCreatedAt, labelModifiedAt:
		return true
	}
	return false
}

func userLabels(all map[string]string) map[string]string {
	user := maps.Clone(all)
	maps.DeleteFunc(user, func(label, _ string) bool { return Reserved(label) })
	return user
}

// modified returns when an object was last updated; zero if it never was.
func modified(labels map[string]string) time.Time {
	seconds, err := strconv.ParseInt(labels[labelModifiedAt], 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func checkLabels(r *release.Revision) error {
	for _, label := range slices.Sorted(maps.Keys(r.Labels)) {
		if Reserved(label) {
			return fmt.Errorf("label %q of %s: the name is reserved for the store", label, r)
		}
	}
	return nil
}

// recordLabels returns the labels for r: the user's, the store's, and the time stamps of the
// existing object.
func recordLabels(r *release.Revision, existing map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, r.Labels)
	for _, stamp := range []string{labelCreatedAt, labelModifiedAt} {
		if at, stamped := existing[stamp]; stamped {
			all[stamp] = at
		}
	}
	all[labelName] = r.Name
	all[labelOwner] = ownerHelm
	all[labelStatus] = string(r.Info.Status)
	all[labelVersion] = strconv.Itoa(r.Version)
	return all
}

// newObject returns the object for a revision that is not stored yet.
func newObject(r *release.Revision, record string, now time.Time) object {
	labels := recordLabels(r, nil)
	labels[labelCreatedAt] = strconv.FormatInt(now.Unix(), 10)
	return object{
		meta:   metav1.ObjectMeta{Namespace: r.Namespace, Name: ObjectName(r.Name, r.Version), Labels: labels},
		record: record,
	}
}

// nextObject returns an object with the given metadata and new content.
func nextObject(meta metav1.ObjectMeta, r *release.Revision, record string, now time.Time) object {
	meta.Labels = recordLabels(r, meta.Labels)
	meta.Labels[labelModifiedAt] = strconv.FormatInt(now.Unix(), 10)
	meta.ManagedFields = nil // when they are omitted, the server keeps them
	return object{meta: meta, record: record}
}
