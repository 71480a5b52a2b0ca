package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"time"
)

// UnmarshalJSON reads a record as Helm 3 or 4 wrote it.
func (r *Revision) UnmarshalJSON(data []byte) error {
	entries := MaxEntries
	read, err := Read(bytes.Clone(data), &entries)
	if err == nil {
		*r = *read
	}
	return err
}

// Read is UnmarshalJSON for a text that the caller no longer changes: the revision keeps it, since
// records may be large. The manifest is not kept in JSON as well, and neither is a text that is
// mostly manifest. entries is how many entries the record may have, and is reduced by those that
// it has. Errors are those of JSON, and ErrTooMany.
func Read(data []byte, entries *int) (*Revision, error) {
	n := count(data)
	if n > *entries {
		return nil, ErrTooMany
	}
	type plain Revision
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	var fields map[string]excerpt
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	mostlyManifest := len(fields["manifest"]) > len(data)/2
	if p.Manifest != "" {
		delete(fields, "manifest")
	}
	r := Revision(p)
	r.stored, r.storedChart = make(map[string]json.RawMessage, len(fields)), p.Chart
	for name, text := range fields {
		if mostlyManifest {
			text = bytes.Clone(text)
		}
		r.stored[name] = json.RawMessage(text)
	}
	*entries -= n
	return &r, nil
}

// excerpt is a json.RawMessage that does not copy.
type excerpt []byte

// UnmarshalJSON implements json.Unmarshaler.
func (e *excerpt) UnmarshalJSON(data []byte) error {
	*e = data
	return nil
}

// MarshalJSON is WriteJSON into memory.
func (r *Revision) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	err := r.WriteJSON(&out)
	return out.Bytes(), err
}

// WriteJSON writes the record. A record that was read is written back with everything in it,
// including fields that are not known here; only fields whose values have changed are replaced. The
// chart is compared by identity: it never changes within a revision, so replace it rather than
// changing it. Errors: those of the writer, and one for a record of which only a part was read.
func (r *Revision) WriteJSON(w io.Writer) error {
	if r.part != Whole {
		return fmt.Errorf("record of %s: only a part of it was read", r)
	}
	if r.stored == nil {
		return r.writeNew(w)
	}
	type plain Revision
	next := plain(*r)
	stored, compared := maps.Clone(r.stored), maps.Clone(r.stored)
	if next.Chart == r.storedChart {
		next.Chart = nil
	} else {
		delete(stored, "chart")
	}
	delete(compared, "chart")
	next.Manifest = ""
	now, err := fieldsOf(&next)
	if err != nil {
		return err
	}
	// What this program would have written if nothing had changed since the record was read.
	var read plain
	if err := decodeFields(compared, &read); err != nil {
		return fmt.Errorf("record of %s: %w", r, err)
	}
	was, err := fieldsOf(&read)
	if err != nil {
		return fmt.Errorf("record of %s: %w", r, err)
	}
	if err := overlayFields(stored, was, now); err != nil {
		return err
	}
	return writeFields(w, stored, r.Manifest)
}

// fieldsOf returns the fields of a value's JSON object.
func fieldsOf(v any) (fields map[string]json.RawMessage, err error) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	return fields, err
}

// decodeFields decodes a JSON object with the fields.
func decodeFields(fields map[string]json.RawMessage, into any) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// recordTime reads "", which Helm 3 writes for a time that was never set (3.22.0,
// pkg/time/time.go), as the zero time.
type recordTime struct{ time.Time }

func (t *recordTime) UnmarshalJSON(data []byte) error {
	if string(data) == `""` {
		return nil
	}
	return t.Time.UnmarshalJSON(data)
}

// UnmarshalJSON reads the time formats of Helm 3 and 4.
func (i *Info) UnmarshalJSON(data []byte) error {
	type plain Info
	var p plain
	read := struct {
		*plain
		FirstDeployed recordTime `json:"first_deployed"`
		LastDeployed  recordTime `json:"last_deployed"`
		Deleted       recordTime `json:"deleted"`
	}{plain: &p}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*i = Info(p)
	i.FirstDeployed, i.LastDeployed, i.Deleted = read.FirstDeployed.Time, read.LastDeployed.Time, read.Deleted.Time
	return nil
}

// UnmarshalJSON reads the time formats of Helm 3 and 4.
func (e *Execution) UnmarshalJSON(data []byte) error {
	var read struct {
		StartedAt   recordTime `json:"started_at"`
		CompletedAt recordTime `json:"completed_at"`
		Phase       Phase      `json:"phase"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*e = Execution{StartedAt: read.StartedAt.Time, CompletedAt: read.CompletedAt.Time, Phase: read.Phase}
	return nil
}
