package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	unreadRecord = leftOut("record that cannot be read", "records that cannot be read")
	unreadPart   = noteText{
		one:  "1 message of which a part or a field cannot be read; a line of text replaces a part",
		many: "%d messages of which a part or a field cannot be read; a line of text replaces each part",
	}
	unreadField = leftOut("field that cannot be read", "fields that cannot be read")
)

// identity are the fields that every record needs. Where one of them is wrong, the whole record is left out.
var identity = []string{"type", "role", "kind", "payload", "message", "data", "kwargs"}

// maxRepairs bounds how many fields of one record are left out.
const maxRepairs = 100

// strictly returns the first finding as an error, if strict is set.
func (r *noteCounter) strictly(findings []dialect.Finding) error {
	if !r.strict {
		return nil
	}
	for _, f := range findings {
		if f.Cause != nil {
			return f.Cause
		}
	}
	return nil
}

// part returns a line of text in place of a part that cannot be read, unless strict is set.
func (r *noteCounter) part(raw json.RawMessage, err error) (*compactordv1.Part, error) {
	if r.strict {
		return nil, err
	}
	p := textPart(dialect.UnreadLine(raw, err))
	if a := dialect.UnreadAs(compactordv1.Dialect_DIALECT_OPENAI_CHAT, raw); a != nil {
		p.Attachments = []*compactordv1.Attachment{a}
	}
	return p, nil
}

// repair calls read with a record, and again without each field that cannot be read. Where read fails, it must not have
// changed anything but notes.
func (r *noteCounter) repair(raw json.RawMessage, line int, read func(json.RawMessage) error) error {
	before := r.copy()
	first := read(raw)
	if first == nil || r.strict {
		return first
	}
	var field *rawjson.FieldError
	err, left := first, 0
	for err != nil && left < maxRepairs && errors.As(err, &field) {
		without, ok := withoutField(raw, dialect.Steps(field.Path))
		if !ok {
			break
		}
		raw = without
		left++
		r.restore(before)
		err = read(raw)
	}
	if err != nil {
		r.restore(before)
		return first
	}
	for range left {
		r.addAt(unreadField, line)
	}
	return nil
}

func (r *noteCounter) copy() noteCounter {
	return noteCounter{seen: slices.Clone(r.seen), counts: maps.Clone(r.counts), places: maps.Clone(r.places), strict: r.strict}
}

func (r *noteCounter) restore(to noteCounter) {
	r.seen, r.counts, r.places = slices.Clone(to.seen), maps.Clone(to.counts), maps.Clone(to.places)
}

// withoutField removes from a record what a path leads to. Where that is missing, it removes the innermost list element
// on the path. ok is false where there is nothing to remove.
func withoutField(raw json.RawMessage, path []dialect.Step) (without json.RawMessage, ok bool) {
	if len(path) == 0 {
		return nil, false
	}
	step := path[0]
	if step.Name == "" {
		list, err := rawjson.ParseArray(raw)
		if err != nil || step.Index >= len(list) {
			return nil, false
		}
		if inner, ok := withoutField(list[step.Index], path[1:]); ok {
			list[step.Index] = inner
			return rawjson.EncodeArray(list), true
		}
		return rawjson.EncodeArray(slices.Delete(list, step.Index, step.Index+1)), true
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil || o[step.Name] == nil {
		return nil, false
	}
	if inner, ok := withoutField(o[step.Name], path[1:]); ok {
		o[step.Name] = inner
		return o.Encode(), true
	}
	if slices.Contains(identity, step.Name) {
		return nil, false
	}
	delete(o, step.Name)
	return o.Encode(), true
}

// skip notes a record that cannot be read, and reports whether the input can be read further.
func (r *noteCounter) skip(err error) bool {
	var line *LineError
	if r.strict || !errors.As(err, &line) || !line.canContinue {
		return false
	}
	if r.skipped == nil {
		r.skipped = line
	}
	r.addAt(unreadRecord, line.Line)
	return true
}

// firstSkipped returns what is wrong with the first record that was left out.
func (r *noteCounter) firstSkipped() string {
	if r.skipped == nil {
		return ""
	}
	if r.skipped.Field == "" {
		return fmt.Sprintf("; the first: %v", r.skipped.Err)
	}
	return fmt.Sprintf("; the first: %s: %v", r.skipped.Field, r.skipped.Err)
}
