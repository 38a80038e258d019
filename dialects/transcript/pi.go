package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// piEntry is one line of a session file after its header.
type piEntry struct {
	rawjson.Object
	kind     string
	line     int // in the file, from 1
	position int // among the entries, from 0
	// before is the entry before it in the file, or nil for the first.
	before *piEntry
}

// piSession reads a session file of Pi. Its first files were a plain list. Later ones are a tree, in which each entry
// names its parent, and the conversation is the path from the root to the last entry.
type piSession struct {
	in      *lines
	notes   *noteCounter
	entries int
	held    *piEntry // the first entry, which was read to distinguish list and tree
	tree    *piTree
	// messages counts those that were read. before holds that count at each entry.
	messages uint32
	before   map[string]uint32
}

// recognizePi recognizes the header, which must be the first line. A session file without one has lost its beginning.
func recognizePi(b beginning) verdict {
	if b.line && isPiHeader(b.Object) {
		return yes
	}
	return no
}

func isPiHeader(o rawjson.Object) bool {
	return o.IsText("type", "session") && rawjson.KindOf(o["id"]) == rawjson.String
}

// openPi reads up to the first entry, since files before version 2 have no ids, and some writers no version.
func openPi(in *lines, _ beginning) (source, error) {
	header, _, err := in.object()
	if err != nil {
		return nil, err
	}
	if !isPiHeader(header) {
		return nil, onLine(in.line, errNoPiHeader)
	}
	version, err := header.Count("version")
	if err != nil && in.options.strict {
		return nil, onLine(in.line, err)
	}
	if err != nil {
		in.notes.addAt(unreadField, in.line)
	}
	s := &piSession{in: in, notes: in.notes, before: make(map[string]uint32)}
	first, err := s.read()
	for in.notes.skip(err) {
		first, err = s.read()
	}
	switch {
	case errors.Is(err, io.EOF):
		return s, nil
	case err != nil:
		return nil, err
	}
	s.held = first
	if version >= 2 || first.Has("id") {
		s.tree = &piTree{}
	}
	return s, nil
}

func (s *piSession) unit() unit { return unitEntry }

func (s *piSession) next() (entry, error) {
	for {
		e, err := s.entry()
		if err != nil {
			return entry{}, err
		}
		if s.before[e.key()] = s.messages; e.kind == "compaction" {
			made, ok, err := s.compaction(e)
			if err != nil {
				return entry{}, onLine(e.line, err)
			}
			if ok {
				return made, nil
			}
			continue
		}
		m, err := s.repaired(e)
		if err != nil {
			return entry{}, onLine(e.line, err)
		}
		if m != nil {
			s.messages++
			m.SourcePosition = position(e.position)
			return entry{message: m}, nil
		}
	}
}

// entry returns the next entry of the conversation.
func (s *piSession) entry() (*piEntry, error) {
	if s.tree == nil {
		return s.read()
	}
	if !s.tree.whole {
		if err := s.tree.readTree(s); err != nil {
			return nil, err
		}
	}
	return s.tree.next()
}

// read returns the next entry of the file.
func (s *piSession) read() (*piEntry, error) {
	if held := s.held; held != nil {
		s.held = nil
		return held, nil
	}
	o, _, err := s.in.object()
	if err != nil {
		return nil, err
	}
	e, err := parsePiEntry(o)
	if err != nil {
		return nil, onLine(s.in.line, err)
	}
	e.line = s.in.line
	e.position = s.entries
	s.entries++
	return e, nil
}

func parsePiEntry(o rawjson.Object) (*piEntry, error) {
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	if _, known := piKinds[kind]; !known {
		return nil, rawjson.In("type", errUnknownEntry)
	}
	return &piEntry{Object: o, kind: kind}, nil
}

var (
	errNoPiHeader   = errors.New("a session file of Pi begins with its header, and this is none")
	errUnknownEntry = errors.New("unknown type of entry")

	summaryMessage = leftOut("message that repeats a compaction's summary", "messages that repeat a compaction's summary")
	emptyBranch    = leftOut("branch_summary entry without a summary", "branch_summary entries without a summary")
	settingsEntry  = leftOut("settings entry (model, thinking level, session info)",
		"settings entries (model, thinking level, session info)")
	labelEntry    = leftOut("label entry", "label entries")
	customEntry   = leftOut("custom entry (state of an extension)", "custom entries (state of extensions)")
	excludedShell = leftOut("shell command that the user had excluded from the context",
		"shell commands that the user had excluded from the context")
	attachedFile  = leftOut("file attached in the user interface", "files attached in the user interface")
	signatureLost = leftOut("signature that no dialect can give back", "signatures that no dialect can give back")
	errorTextCut  = noteText{one: "1 error text cut to 64 KiB", many: "%d error texts cut to 64 KiB"}
	otherBranch   = leftOut("entry that is not on the current path", "entries that are not on the current path")
	lostParent    = noteText{
		one:  "the current path begins at an entry whose parent is not in the file",
		many: "the current path begins at an entry whose parent is not in the file",
	}
)

// piKinds holds the known types of entries, and the notes on those that are no messages.
var piKinds = map[string]noteText{
	"message":               {},
	"custom_message":        {},
	"compaction":            {},
	"branch_summary":        {},
	"thinking_level_change": settingsEntry,
	"model_change":          settingsEntry,
	"session_info":          settingsEntry,
	"label":                 labelEntry,
	"custom":                customEntry,
}

// repaired parses the message of an entry, without its unreadable content.
func (s *piSession) repaired(e *piEntry) (m *compactordv1.Message, err error) {
	err = s.notes.repair(e.Encode(), e.line, func(raw json.RawMessage) error {
		o, err := rawjson.ParseObject(raw)
		if err != nil {
			return err
		}
		m, err = s.message(&piEntry{Object: o, kind: e.kind, line: e.line, position: e.position})
		return err
	})
	return m, err
}

// message parses the message of an entry. It returns nil where a log cannot hold it.
func (s *piSession) message(e *piEntry) (*compactordv1.Message, error) {
	var m *compactordv1.Message
	var err error
	switch e.kind {
	case "message":
		var o rawjson.Object
		if o, err = e.Sub("message"); err != nil {
			return nil, err
		}
		if o == nil {
			return nil, rawjson.In("message", rawjson.ErrMissing)
		}
		m, err = piMessage(o, s.notes)
		err = rawjson.In("message", err)
	case "custom_message":
		m, err = piExtension(e.Object, s.notes)
	case "branch_summary":
		m, err = piBranch(e.Object, s.notes)
	default:
		s.notes.add(piKinds[e.kind])
		return nil, nil
	}
	if m == nil || err != nil {
		return nil, err
	}
	if m.GetWrittenAt() == nil {
		m.WrittenAt, err = writtenAt(e.Object, time.Millisecond)
	}
	return m, err
}
