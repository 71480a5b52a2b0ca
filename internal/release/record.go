package release

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// UnmarshalJSON reads a record as Helm 3 or 4 wrote it. Helm 3 writes times
// that were never set as "".
func (r *Revision) UnmarshalJSON(data []byte) error {
	var stored map[string]json.RawMessage
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	type plain Revision
	var p plain
	if err := json.Unmarshal(emptyTimesToNull(data), &p); err != nil {
		return err
	}
	*r = Revision(p)
	r.stored = stored
	return nil
}

// MarshalJSON writes the record. What was read and is not known here is
// written back as it was; the chart, which never changes within a revision, is
// written back byte for byte.
func (r *Revision) MarshalJSON() ([]byte, error) {
	type plain Revision
	p := plain(*r)
	keepChart := r.stored["chart"] != nil
	if keepChart {
		p.Chart = nil
	}
	known, err := json.Marshal(&p)
	if err != nil {
		return nil, err
	}
	if r.stored == nil {
		return known, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(known, &fields); err != nil {
		return nil, err
	}
	for name, value := range r.stored {
		if _, written := fields[name]; !written && (name == "chart" || !isField(name)) {
			fields[name] = value
		}
	}
	info, err := mergeInfo(r.stored["info"], fields["info"])
	if err != nil {
		return nil, fmt.Errorf("record of %s: %w", r, err)
	}
	fields["info"] = info
	return json.Marshal(fields)
}

func isField(name string) bool {
	switch name {
	case "name", "info", "chart", "config", "manifest", "hooks", "version", "namespace", "apply_method":
		return true
	}
	return false
}

// mergeInfo keeps fields of the stored info that this version does not know.
func mergeInfo(stored, known json.RawMessage) (json.RawMessage, error) {
	if stored == nil {
		return known, nil
	}
	var old, fields map[string]json.RawMessage
	if err := json.Unmarshal(stored, &old); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(known, &fields); err != nil {
		return nil, err
	}
	for name, value := range old {
		switch name {
		case "first_deployed", "last_deployed", "deleted", "description", "status", "rollback_revision", "notes", "resources":
		default:
			fields[name] = value
		}
	}
	return json.Marshal(fields)
}

// emptyTimesToNull turns the "" that Helm 3 writes for a time that was never
// set into null, which decodes to the zero time.
func emptyTimesToNull(data []byte) []byte {
	for _, field := range []string{"first_deployed", "last_deployed", "deleted", "started_at", "completed_at"} {
		data = bytes.ReplaceAll(data, []byte(`"`+field+`":""`), []byte(`"`+field+`":null`))
	}
	return data
}
