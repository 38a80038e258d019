package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// noteUnread keeps a provider's message unchanged where something in it could not be read.
const noteUnread = "unread"

// maxRepairs bounds how often one message is repaired and read again. A message that needs more becomes one line of
// text.
const maxRepairs = 100

// Shape says where the messages of a dialect hold parts. With it, a part that cannot be read is replaced by a line of
// text, and the other parts and the list are still accepted.
type Shape struct {
	Kind compactordv1.Dialect
	// Parts are the fields that hold parts. A part can hold parts itself, in the same fields.
	Parts []string
	// Moved are the fields that hold parts but no texts, such as calls. The line for one of these parts is added at the
	// end of the first field in Parts.
	Moved []string
	// Core are the other fields that define what a message is. Where a field cannot be kept, all fields but these are left
	// out.
	Core []string
	// Within is for parts that hold other parts in other fields. It returns the part with a line in place of the one at
	// the path. It returns nil for any other part. Shape can have no Within.
	Within func(part rawjson.Object, path []Step, line string) json.RawMessage
	// Event reports whether an element is an event of a stream. A list of messages that holds one is refused.
	Event func(o rawjson.Object) bool
	// Line returns a part with this text, for a message with the fields o.
	Line func(o rawjson.Object, text string) json.RawMessage
	// Whole returns a message with this text, in place of one with the fields o. Where that was no object, o is empty.
	Whole func(o rawjson.Object, text string) json.RawMessage
}

// Unread counts the unreadable messages of a list, and has the error of the first.
type Unread struct {
	whole int
	first error
}

// Read reads the message at a position of the list. Where read fails, Read repairs what the error names and tries
// again: a part becomes a line of text, and any other field is left out. Where that does not help, the whole message
// becomes a line. Where read fails, it must not have changed anything.
func (s *Shape) Read(u *Unread, at int, raw json.RawMessage, read func(json.RawMessage) error) ([]Finding, error) {
	first := read(raw)
	if first == nil {
		return nil, nil
	}
	first = Malformed(at, 0, first)
	o, _ := rawjson.ParseObject(raw)
	// A message that is too large for an attachment would be lost for ever. Calls of another dialect would be lost in a
	// line of text.
	if len(raw) > MaxText || s.Event(o) || isOtherDialect(first) {
		return nil, first
	}
	var findings []Finding
	repaired, err := raw, first
	for range maxRepairs {
		var found *Finding
		if repaired, found = s.repair(repaired, at, err); found == nil {
			break
		}
		findings = append(findings, *found)
		if err = read(repaired); err == nil {
			return findings, nil
		}
		err = Malformed(at, 0, err)
	}
	u.whole++
	if u.first == nil {
		u.first = first
	}
	if read(s.Whole(o, unreadLine(nil, first))) != nil {
		return nil, first
	}
	return []Finding{{
		Rule: InputMessageUnreadable, Message: at, Cause: causeOf(first),
		Text: "the message cannot be read: " + detailOf(first) + "; a line of text says so",
	}}, nil
}

// ReadInto is Read for a read that appends to parsed. Where read fails, ReadInto removes what it appended.
func (s *Shape) ReadInto(
	parsed *Parsed, u *Unread, at int, raw json.RawMessage, read func(json.RawMessage) error,
) error {
	messages, findings := len(parsed.Messages), len(parsed.Findings)
	found, err := s.Read(u, at, raw, func(raw json.RawMessage) error {
		err := read(raw)
		if err != nil {
			parsed.Messages, parsed.Positions = parsed.Messages[:messages], parsed.Positions[:messages]
			parsed.Findings = parsed.Findings[:findings]
		}
		return err
	})
	if len(found) > 0 {
		KeepUnread(s.Kind, parsed.Messages[messages], raw, found)
		parsed.Findings = append(parsed.Findings, found...)
	}
	return err
}

// FillFrom calls fill, which sets the fields of a message that come from a response. Where fill cannot read a field,
// FillFrom deletes the field from the object that has it, reports it, and calls fill again.
func (p *Parsed) FillFrom(fill func() error, holders ...rawjson.Object) error {
	for {
		err := fill()
		input := &InputError{}
		if err == nil || !errors.As(Malformed(0, 0, err), &input) {
			return err
		}
		path := Steps(input.Field)
		if len(path) == 0 || path[0].Name == "role" || !deleteField(path[0].Name, holders) {
			return err
		}
		p.Findings = append(p.Findings, Finding{
			Rule: InputFieldUnreadable, Cause: input, Text: "a field of the response cannot be read: " + detailOf(input) + "; left out",
		})
	}
}

// UnreadField returns the finding for a field that cannot be read, and the line of text to put in its place.
func UnreadField(err error) (found Finding, line string) {
	err = Malformed(0, 0, err)
	return Finding{
		Rule: InputPartUnreadable, Cause: causeOf(err),
		Text: "the field cannot be read: " + detailOf(err) + "; a line of text says so",
	}, unreadLine(nil, err)
}

// deleteField deletes a field from the first object that has it, in camel case or in snake case.
func deleteField(field string, holders []rawjson.Object) bool {
	plain := func(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }
	for _, o := range holders {
		for key := range o {
			if plain(key) == plain(field) {
				delete(o, key)
				return true
			}
		}
	}
	return false
}

// Err returns the first error where more than half of the messages could not be read: then the list has another shape.
func (u *Unread) Err(messages int) error {
	if 2*u.whole > messages {
		return u.first
	}
	return nil
}

// callFields name the call that a message makes or answers. Without it the message would have another meaning.
var callFields = []string{"tool_call_id", "call_id"}

// repair replaces what an error names by a line of text, or leaves it out.
func (s *Shape) repair(raw json.RawMessage, at int, err error) (json.RawMessage, *Finding) {
	o, notObject := rawjson.ParseObject(raw)
	input := &InputError{}
	if notObject != nil || !errors.As(err, &input) {
		return nil, nil
	}
	path := Steps(input.Field)
	if len(path) == 0 {
		return s.coreOf(o, at, err)
	}
	field := path[0].Name
	value, there := o[field]
	part := 0
	if len(path) > 1 && path[1].Name == "" {
		part = path[1].Index
	}
	found := &Finding{
		Rule: InputPartUnreadable, Message: at, Part: part, Cause: input,
		Text: "the part cannot be read: " + detailOf(err) + "; a line of text says so",
	}
	switch {
	case slices.Contains(s.Parts, field) && there:
		o[field] = s.replaced(o, value, path[1:], err)
		return o.Encode(), found
	case slices.Contains(s.Moved, field) && there:
		s.move(o, field, path[1:], err)
		return o.Encode(), found
	case field == "role" || field == "type" || !there:
		return nil, nil
	case slices.Contains(callFields, field):
		return nil, nil
	}
	delete(o, field)
	found.Rule, found.Part = InputFieldUnreadable, 0
	found.Text = "the field cannot be read: " + detailOf(err) + "; left out"
	return o.Encode(), found
}

// coreOf keeps only the fields that define what the message is, where an error concerns the whole message.
func (s *Shape) coreOf(o rawjson.Object, at int, err error) (json.RawMessage, *Finding) {
	core := make(rawjson.Object)
	for key, value := range o {
		if slices.Contains(s.Core, key) || slices.Contains(s.Parts, key) || slices.Contains(s.Moved, key) {
			core[key] = value
		}
	}
	if len(core) == len(o) {
		return nil, nil
	}
	return core.Encode(), &Finding{
		Rule: InputFieldUnreadable, Message: at, Cause: causeOf(err),
		Text: "fields of the message cannot be kept: " + detailOf(err) + "; left out",
	}
}

// replaced returns a list of parts, or one part, with a line in place of the innermost part on the path.
func (s *Shape) replaced(o rawjson.Object, value json.RawMessage, path []Step, err error) json.RawMessage {
	line := func(part json.RawMessage) json.RawMessage { return s.Line(o, unreadLine(part, err)) }
	list, notList := rawjson.ParseArray(value)
	if notList != nil || len(path) == 0 || path[0].Name != "" || path[0].Index >= len(list) {
		return rawjson.EncodeArray([]json.RawMessage{line(nil)})
	}
	at := path[0].Index
	list[at] = s.within(o, list[at], path[1:], err, line)
	return rawjson.EncodeArray(list)
}

// within replaces a part within a part, such as one in the content of a result.
func (s *Shape) within(
	o rawjson.Object, part json.RawMessage, path []Step, err error, line func(json.RawMessage) json.RawMessage,
) json.RawMessage {
	inner, notObject := rawjson.ParseObject(part)
	if notObject == nil && len(path) > 1 && path[1].Name == "" && slices.Contains(s.Parts, path[0].Name) {
		inner[path[0].Name] = s.replaced(o, inner[path[0].Name], path[1:], err)
		return inner.Encode()
	}
	if notObject == nil && s.Within != nil {
		if repaired := s.Within(inner, path, unreadLine(nil, err)); repaired != nil {
			return repaired
		}
	}
	return line(part)
}

// move removes an element of a list, or the whole list, and adds a line for it to the parts.
func (s *Shape) move(o rawjson.Object, field string, path []Step, err error) {
	var part json.RawMessage
	list, notList := rawjson.ParseArray(o[field])
	if notList == nil && len(path) > 0 && path[0].Name == "" && path[0].Index < len(list) {
		part = list[path[0].Index]
		list = slices.Delete(list, path[0].Index, path[0].Index+1)
		o[field] = rawjson.EncodeArray(list)
	}
	if part == nil || len(list) == 0 {
		delete(o, field)
	}
	var parts []json.RawMessage
	switch rawjson.KindOf(o[s.Parts[0]]) {
	case rawjson.String:
		if text, textErr := o.Text(s.Parts[0]); textErr == nil && text != "" {
			parts = append(parts, s.Line(o, text))
		}
	case rawjson.Array:
		parts, _ = rawjson.ParseArray(o[s.Parts[0]])
	default:
	}
	o[s.Parts[0]] = rawjson.EncodeArray(append(parts, s.Line(o, unreadLine(part, err))))
}

// UnreadLine returns the text that stands for a part that cannot be read or, where part is nil, for a message.
func UnreadLine(part json.RawMessage, err error) string {
	return unreadLine(part, Malformed(0, 0, err))
}

func unreadLine(part json.RawMessage, err error) string {
	what := "message"
	if part != nil {
		what = "part"
		if o, notObject := rawjson.ParseObject(part); notObject == nil {
			if typ, notText := o.Text("type"); notText == nil && isWord(typ) {
				what = typ
			}
		}
	}
	return wording.Unreadable(what, detailOf(err))
}

// isWord reports whether a type is a plain word, as all types of providers are.
func isWord(typ string) bool {
	return typ != "" && len(typ) <= 40 && strings.Trim(typ, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func causeOf(err error) *InputError {
	input := &InputError{}
	if !errors.As(err, &input) {
		return nil
	}
	return input
}

// detailOf returns what is wrong, with the name of the field within the part.
func detailOf(err error) string {
	input := &InputError{}
	if !errors.As(err, &input) {
		return err.Error()
	}
	field := strings.TrimPrefix(input.Field[strings.LastIndexByte(input.Field, ']')+1:], ".")
	if field == "" {
		return input.Err.Error()
	}
	return field + " " + input.Err.Error()
}

// KeepUnread attaches the provider's original message to the first message that was made of it, if the log accepts
// that. An unreadable message does not count as a request of the user.
func KeepUnread(kind compactordv1.Dialect, m *compactordv1.Message, raw json.RawMessage, found []Finding) {
	if len(found) == 0 {
		return
	}
	if found[0].Rule == InputMessageUnreadable && m.GetRole() == compactordv1.Role_ROLE_USER {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	if a := UnreadAs(kind, raw); a != nil && len(m.GetAttachments()) < MaxAttachments {
		m.Attachments = append(m.Attachments, a)
	}
}

// UnreadAs returns the attachment that keeps what could not be read. It returns nil where no log accepts it.
func UnreadAs(kind compactordv1.Dialect, raw json.RawMessage) *compactordv1.Attachment {
	if len(raw) > MaxText || !rawjson.Valid(raw) {
		return nil
	}
	return &compactordv1.Attachment{Dialect: kind, Key: NotePrefix + noteUnread, Json: string(raw)}
}

// WasUnread returns the original message that KeepUnread attached, and whether there is one.
func WasUnread(kind compactordv1.Dialect, attachments []*compactordv1.Attachment) (json.RawMessage, bool) {
	raw, found := Attached(attachments, kind, NotePrefix+noteUnread)
	return raw, found && rawjson.Valid(raw)
}

// RestoreUnread puts the original messages back into a list that is rendered as it was written.
func RestoreUnread(kind compactordv1.Dialect, r *Rendered, messages []*compactordv1.Message) {
	for i, span := range r.From {
		if span.First >= len(messages) {
			continue
		}
		if raw, found := WasUnread(kind, messages[span.First].GetAttachments()); found {
			r.Messages[i] = raw
		}
	}
}

// HoldsUnread reports whether something in a message could not be read, in any dialect.
func HoldsUnread(m *compactordv1.Message) bool {
	kept := func(a *compactordv1.Attachment) bool { return a.GetKey() == NotePrefix+noteUnread }
	return slices.ContainsFunc(m.GetAttachments(), kept) ||
		slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool {
			return slices.ContainsFunc(p.GetAttachments(), kept) ||
				slices.ContainsFunc(p.GetToolResult().GetParts(), func(rp *compactordv1.ResultPart) bool {
					return slices.ContainsFunc(rp.GetAttachments(), kept)
				})
		})
}

// Step is a field with its name or, where the name is empty, an element with its index.
type Step struct {
	Name  string
	Index int
}

// Steps splits the path of a field, such as `content[1].source.data`.
func Steps(path string) []Step {
	var all []Step
	for path != "" {
		if path[0] == '[' {
			var index int
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return nil
			}
			if n, err := fmt.Sscanf(path[1:end], "%d", &index); n != 1 || err != nil || index < 0 {
				return nil
			}
			all = append(all, Step{Index: index})
			path = strings.TrimPrefix(path[end+1:], ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		all = append(all, Step{Name: path[:end]})
		path = strings.TrimPrefix(path[end:], ".")
	}
	return all
}
