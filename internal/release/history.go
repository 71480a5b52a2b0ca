package release

import (
	"cmp"
	"slices"
)

// History is every stored revision of one release, oldest first.
type History []*Revision

// NewHistory sorts revisions by their number.
func NewHistory(revisions []*Revision) History {
	h := slices.Clone(revisions)
	slices.SortFunc(h, func(a, b *Revision) int { return cmp.Compare(a.Version, b.Version) })
	return h
}

// Last returns the newest revision, whatever its status; nil without any.
func (h History) Last() *Revision {
	if len(h) == 0 {
		return nil
	}
	return h[len(h)-1]
}

// Deployed returns the newest revision with the status deployed, nil when there is none.
func (h History) Deployed() *Revision { return h.newest(StatusDeployed) }

// Current returns the newest revision that is deployed or was until an uninstall of it began that did not end. It
// is nil when there is none. An older one may have been left deployed by a run that was killed between two records.
func (h History) Current() *Revision {
	for _, r := range slices.Backward(h) {
		if r.Info.Status == StatusDeployed || r.Info.Status != StatusSuperseded && r.leftByUninstall() {
			return r
		}
	}
	return nil
}

// LastSuccessful returns the newest revision that was deployed successfully: the current one,
// else the newest one that has Succeeded. It is nil when there is none.
func (h History) LastSuccessful() *Revision {
	if r := h.Current(); r != nil {
		return r
	}
	for _, r := range slices.Backward(h) {
		if r.Succeeded() {
			return r
		}
	}
	return nil
}

// SinceUninstall returns the revisions after the last one that was uninstalled with its history
// kept: older revisions no longer own any objects.
func (h History) SinceUninstall() History {
	for i, r := range slices.Backward(h) {
		if r.Info.Status == StatusUninstalled {
			return h[i+1:]
		}
	}
	return h
}

// Uninstalled returns the revision whose uninstall kept the history, if nothing but failed and unfinished
// attempts to install it again came after it; otherwise nil.
func (h History) Uninstalled() *Revision {
	for _, r := range slices.Backward(h) {
		switch {
		case r.Info.Status == StatusUninstalled:
			return r
		case r.Succeeded(), !r.Failed() && !r.Info.Status.Pending():
			return nil
		}
	}
	return nil
}

// Revision returns the revision with the number, nil when it is not stored.
func (h History) Revision(version int) *Revision {
	for _, r := range h {
		if r.Version == version {
			return r
		}
	}
	return nil
}

// Since returns the revisions newer than version, oldest first.
func (h History) Since(version int) History {
	var newer History
	for _, r := range h {
		if r.Version > version {
			newer = append(newer, r)
		}
	}
	return newer
}

func (h History) newest(s Status) *Revision {
	for _, r := range slices.Backward(h) {
		if r.Info.Status == s {
			return r
		}
	}
	return nil
}
