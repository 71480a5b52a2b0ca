package setrun

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// JudgeAbsent decides what folders are that the tree lacks, and another version of the repository may have.
// What base has lacked before is not due to the change, and is a warning. Anything else has been taken away
// or is named by mistake: it can't be read. Without a base, nil or one that declares nothing, all are
// warnings.
func (s *Side) JudgeAbsent(base *Side) {
	compared := base != nil && slices.Contains(base.Declares, true)
	for _, a := range s.Set.Absent {
		lacked := func(b releaseset.Absent) bool { return b.Applier == a.Applier && b.Folder == a.Folder }
		if compared && !slices.ContainsFunc(base.Set.Absent, lacked) {
			s.Set.Unread = append(s.Set.Unread, a.Error)
		} else {
			s.Set.Warnings = append(s.Set.Warnings, a.Warning)
		}
	}
}
