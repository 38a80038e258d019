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

// noteUnread keeps a message of the provider's as it was, of which something could not be read.
const noteUnread = "unread"

// maxRepairs bounds how often one message is read anew. What needs more is taken as one line.
const maxRepairs = 100

// Shape says where the messages of a dialect hold parts. So one part that cannot be read gives way to a line of text, and
// the others and the list are still taken.
type Shape struct {
	Kind compactordv1.Dialect
	// Parts are the fields that hold parts. A part may hold parts itself, in the same fields.
	Parts []string
	// Moved are the fields that hold parts but no texts, such as calls. A line for one of them goes to the end of the first
	// field in Parts.
	Moved []string
	// Core are the other fields that say what a message is. All but these are left out where one of them cannot be kept.
	Core []string
	// Within is for parts that hold others in a way of their own. It returns the part with a line in the place of the one
	// at the path; nil where the part is none of these. It may be nil itself.
	Within func(part rawjson.Object, path []Step, line string) json.RawMessage
	// Event says whether an element is an event of a stream. A list of messages that holds one is refused.
	Event func(o rawjson.Object) bool
	// Line is a part of this text, in a message of fields o.
	Line func(o rawjson.Object, text string) json.RawMessage
	// Whole is a message of this text in the place of one with fields o. Where that was no object, o is empty.
	Whole func(o rawjson.Object, text string) json.RawMessage
}

// Unread counts the messages of a list of which nothing could be read.
type Unread struct {
	whole int
	first error
}

// Read reads the message at a position of the list. Where read fails, Read repairs what the error names and tries
// again: a part becomes a line of text, any other field is left out. Where that does not help, the whole message
// becomes a line. read must leave nothing behind where it fails.
func (s *Shape) Read(u *Unread, at int, raw json.RawMessage, read func(json.RawMessage) error) ([]Finding, error) {
	first := read(raw)
	if first == nil {
		return nil, nil
	}
	first = Malformed(at, 0, first)
	o, _ := rawjson.ParseObject(raw)
	// What is too large to be kept as it was would be lost for good.
	if len(raw) > MaxText || s.Event(o) {
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

// ReadInto is Read for a read that appends to parsed. Where read fails, what it appended is taken back.
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

// Tell calls tell, which fills into a message what a response says of it. Where tell cannot read a field, Tell takes that
// out of the holder that has it, reports it, and calls tell again.
func (p *Parsed) Tell(tell func() error, holders ...rawjson.Object) error {
	for {
		err := tell()
		input := &InputError{}
		if err == nil || !errors.As(Malformed(0, 0, err), &input) {
			return err
		}
		path := Steps(input.Field)
		if len(path) == 0 || path[0].Name == "role" || !takeOut(path[0].Name, holders) {
			return err
		}
		p.Findings = append(p.Findings, Finding{
			Rule: InputFieldUnreadable, Cause: input, Text: "a field of the response cannot be read: " + detailOf(input) + "; left out",
		})
	}
}

// UnreadField tells of a field that cannot be read, with a line of text for its place.
func UnreadField(err error) (found Finding, line string) {
	err = Malformed(0, 0, err)
	return Finding{
		Rule: InputPartUnreadable, Cause: causeOf(err),
		Text: "the field cannot be read: " + detailOf(err) + "; a line of text says so",
	}, unreadLine(nil, err)
}

// takeOut takes a field out of the first object that has it, in camel case or in snake case.
func takeOut(field string, holders []rawjson.Object) bool {
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

// Verdict is the first error if more than half of the messages could not be read: then the list is of another shape.
func (u *Unread) Verdict(messages int) error {
	if 2*u.whole > messages {
		return u.first
	}
	return nil
}

// callFields name the call that a message makes or answers. A message without it would be another one.
var callFields = []string{"tool_call_id", "call_id"}

// repair puts a line in the place of what an error names, or leaves it out.
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

// coreOf keeps only the fields that say what the message is, where the message is wrong as a whole.
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

// replaced is a list of parts, or an object that is one, with a line in the place of the innermost part on the path.
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

// within looks for parts in a part, such as the content of a result.
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

// move takes an element out of its list, or all of the list, and puts a line for it among the parts.
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

// UnreadLine is the text that stands for a part that cannot be read; for a message where there is no part.
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

// isWord says whether a type is a plain word, as all are that providers have.
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

// detailOf is what is wrong, with the field within the part.
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

// KeepUnread attaches the provider's message as it came to the first message that was made of it, if a log takes that. A
// message of which nothing could be read does not count as a request of the user.
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

// UnreadAs is the attachment that keeps what could not be read; nil where no log takes it.
func UnreadAs(kind compactordv1.Dialect, raw json.RawMessage) *compactordv1.Attachment {
	if len(raw) > MaxText || !json.Valid(raw) {
		return nil
	}
	return &compactordv1.Attachment{Dialect: kind, Key: NotePrefix + noteUnread, Json: string(raw)}
}

// WasUnread returns what KeepUnread kept.
func WasUnread(kind compactordv1.Dialect, attachments []*compactordv1.Attachment) (json.RawMessage, bool) {
	raw, found := Attached(attachments, kind, NotePrefix+noteUnread)
	return raw, found && json.Valid(raw)
}

// GiveBackUnread puts the original messages back into a list that is rendered as it was written.
func GiveBackUnread(kind compactordv1.Dialect, r *Rendered, messages []*compactordv1.Message) {
	for i, span := range r.From {
		if span.First >= len(messages) {
			continue
		}
		if raw, found := WasUnread(kind, messages[span.First].GetAttachments()); found {
			r.Messages[i] = raw
		}
	}
}

// HoldsUnread says whether something of a message could not be read, in whatever dialect it came.
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

// Step is a field by its name, or an element by its index where the name is empty.
type Step struct {
	Name  string
	Index int
}

// Steps takes the path of a field apart, such as `content[1].source.data`.
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
