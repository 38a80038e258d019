package transcript

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	rewoundRecord = leftOut("message that the user took back", "messages that the user took back")
	chatRecord    = leftOut("record that is no message", "records that are no messages")
)

// geminiLines reads a chat that was recorded line by line. A later line can replace a message, remove messages or write
// all of them anew, so they are held until the end.
type geminiLines struct {
	in   *lines
	chat *geminiChat

	records []geminiRecord
	at      map[string]int // positions in records by id
	whole   bool
	entries []entry
}

// geminiRecord is a line with a message of a chat.
type geminiRecord struct {
	id   string
	line int // from 1
	raw  json.RawMessage
}

func (s *geminiLines) unit() unit { return unitLine }

func (s *geminiLines) next() (entry, error) {
	if !s.whole {
		if err := s.hold(); err != nil {
			return entry{}, err
		}
		s.whole = true
	}
	for len(s.entries) == 0 {
		if len(s.records) == 0 {
			return entry{}, io.EOF
		}
		r := s.records[0]
		s.records = s.records[1:]
		entries, err := entriesOfLine(s.in.notes, r.raw, r.line, s.chat.read)
		if err != nil {
			return entry{}, err
		}
		s.entries = entries
	}
	e := s.entries[0]
	s.entries = s.entries[1:]
	return e, nil
}

// hold reads all lines.
func (s *geminiLines) hold() error {
	type record struct {
		rawjson.Object
		raw json.RawMessage
	}
	read := func() (record, error) {
		o, raw, err := s.in.object()
		return record{o, raw}, err
	}
	return readToEnd(s.in.notes, read, func(r record) error { return onLine(s.in.line, s.line(r.Object, r.raw)) })
}

func (s *geminiLines) line(o rawjson.Object, line json.RawMessage) error {
	switch {
	case o.Has("$rewindTo"):
		id, err := o.DemandText("$rewindTo")
		if err != nil {
			return err
		}
		s.rewind(id)
		return nil
	case o.Has("$set"):
		fields, err := o.Sub("$set")
		if err != nil {
			return err
		}
		return rawjson.In("$set", s.replace(fields))
	case o.Has("id") && o.Has("type"):
		return s.put(o, line)
	case !o.Has("sessionId"):
		s.in.notes.add(chatRecord)
	}
	return nil
}

// put adds a message, or replaces the one with its id in its place.
func (s *geminiLines) put(o rawjson.Object, raw json.RawMessage) error {
	id, err := o.DemandText("id")
	if err != nil {
		return err
	}
	record := geminiRecord{id: id, line: s.in.line, raw: bytes.Clone(raw)}
	if at, found := s.at[id]; found {
		s.records[at] = record
		return nil
	}
	s.at[id] = len(s.records)
	s.records = append(s.records, record)
	return nil
}

// rewind removes a message and all after it. Where the message is missing it removes all messages, as Gemini CLI does.
func (s *geminiLines) rewind(id string) {
	first := s.at[id]
	s.in.notes.addMany(rewoundRecord, len(s.records)-first)
	for _, record := range s.records[first:] {
		delete(s.at, record.id)
	}
	s.records = s.records[:first]
}

// replace replaces all messages so far by those that are written anew.
func (s *geminiLines) replace(fields rawjson.Object) error {
	messages, err := fields.Elements("messages")
	if err != nil || len(messages) == 0 {
		return err
	}
	s.records, s.at = nil, make(map[string]int)
	for i, raw := range messages {
		o, err := rawjson.ParseObject(raw)
		if err == nil {
			err = s.put(o, raw)
		}
		if err != nil {
			return rawjson.In("messages", rawjson.InElement(i, err))
		}
	}
	return nil
}
