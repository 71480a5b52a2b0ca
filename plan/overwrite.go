package plan

// patchID returns the ID for the dry run of patching an object that can't be overwritten.
func patchID(id string) string { return id + "/patched" }

// overwrite turns a patch into a replacement of the whole object, with --force and client-side. A
// replacement also takes away what the cluster has given the object, such as the volume of a claim or the
// selector of a Job. If a dry run has shown that some of that can't be changed, it remains a patch: only
// what the chart changes can be a reason to delete an object.
func (b *builder) overwrite(step *Step) {
	if !b.overwrites() {
		return
	}
	if r := b.in.Predictions[step.ID].Refused; r != nil && r.Immutable {
		step.Why += "; patched and not overwritten, because " + fieldList(r.Fields) + " immutable"
		return
	}
	step.Op, step.Patch, step.PatchType = OpReplace, nil, ""
	step.Why += "; --force overwrites it"
}

// overwrites reports whether existing objects are replaced as a whole.
func (b *builder) overwrites() bool { return b.in.Options.Force && !b.in.Options.ServerSide }

// dryRunID returns the ID under which a step's dry run is asked for and answered. With --force, the server
// may be asked three times: about replacing the object, then patching it, then deleting and creating it.
func (b *builder) dryRunID(s *Step) string {
	switch {
	case s.Op == OpRecreate:
		return replacementID(s.ID)
	case b.overwrites() && (s.Op == OpPatch || s.Op == OpAdopt):
		return patchID(s.ID)
	}
	return s.ID
}
