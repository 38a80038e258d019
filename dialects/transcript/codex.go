package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// recognizeCodex recognizes a line of a rollout file: one with a type and a payload, or the header of an old file.
func recognizeCodex(b beginning) verdict {
	if b.array {
		return no
	}
	if rawjson.KindOf(b.Object["payload"]) == rawjson.ObjectKind {
		for _, kind := range []string{"session_meta", "response_item", "event_msg", "turn_context", "compacted"} {
			if b.IsText("type", kind) {
				return yes
			}
		}
	}
	if isOldCodexHeader(b.Object) {
		return yes
	}
	return no
}

func isOldCodexHeader(o rawjson.Object) bool {
	_, told := o["instructions"]
	return told && o.Has("id") && o.Has("timestamp") && !o.Has("type") && !o.Has("role")
}

// openCodex reads a rollout file: items of OpenAI's Responses and lines of Codex itself.
func openCodex(in *lines, _ beginning) (source, error) {
	return &codexRollout{in: in, names: callNames{}}, nil
}

// codexRollout reads a rollout file line by line. The items of a response wait for the results of its calls.
type codexRollout struct {
	in       *lines
	names    callNames
	batch    codexBatch
	entries  []entry
	messages uint32
	// at is when the current line was written.
	at *timestamppb.Timestamp
	// begun reports that a header was read. A session that continues another one has the other's header, too.
	begun bool
	// model is the model of the turn.
	model string
	// total is the last sum of tokens, as it is in the file. It is repeated before the next response.
	total json.RawMessage
	// tokens is the last size of the context.
	tokens uint32
}

func (s *codexRollout) unit() unit { return unitLine }

func (s *codexRollout) next() (entry, error) {
	for len(s.entries) == 0 {
		o, line, err := s.in.object()
		switch {
		case errors.Is(err, io.EOF):
			if err := s.flush(); err != nil {
				return entry{}, err
			}
			if len(s.entries) == 0 {
				return entry{}, io.EOF
			}
		case err != nil:
			return entry{}, err
		default:
			if err := s.line(o, line); err != nil {
				return entry{}, onLine(s.in.line, err)
			}
		}
	}
	e := s.entries[0]
	s.entries = s.entries[1:]
	return e, nil
}

var (
	codexEvent    = leftOut("event for the user interface", "events for the user interface")
	codexUnknown  = leftOut("line of an unknown type", "lines of unknown types")
	codexSnapshot = leftOut("snapshot of the repository", "snapshots of the repository")
	codexRollback = noteText{
		one:  "1 rollback of turns not applied: all messages are read",
		many: "%d rollbacks of turns not applied: all messages are read",
	}
)

// line reads one line. In old files the lines are the items themselves.
func (s *codexRollout) line(o rawjson.Object, raw json.RawMessage) error {
	at, err := writtenAt(o, time.Second)
	if s.at, err = s.in.notes.orUntimed(at, err, s.in.line); err != nil {
		return err
	}
	if !o.Has("payload") {
		if o.Has("type") {
			return s.item(o, raw, "")
		}
		return nil
	}
	payload, err := o.Sub("payload")
	if err != nil {
		return err
	}
	switch {
	case o.IsText("type", "session_meta"):
		err = s.header(payload)
	case o.IsText("type", "turn_context"):
		s.model, err = payload.BoundedText("model", maxName)
	case o.IsText("type", "response_item"):
		return s.item(payload, o["payload"], "payload")
	case o.IsText("type", "compacted"):
		if err := s.flush(); err != nil {
			return err
		}
		err = s.compacted(payload)
	case o.IsText("type", "event_msg"):
		err = s.event(payload)
	default:
		s.in.notes.add(codexUnknown)
	}
	return rawjson.In("payload", err)
}

// header reads the instructions before all messages.
func (s *codexRollout) header(meta rawjson.Object) error {
	if s.begun {
		return nil
	}
	s.begun = true
	base, err := meta.Sub("base_instructions")
	if err != nil || base == nil {
		return err
	}
	text, err := base.BoundedText("text", maxText)
	if err != nil || text == "" {
		return rawjson.In("base_instructions", err)
	}
	parsed, err := openairesponses.New().Parse(rawjson.Object{"instructions": base["text"]}.Encode())
	if err != nil {
		return rawjson.In("base_instructions", fieldOf(err))
	}
	for _, m := range parsed.Messages {
		m.WrittenAt, m.SourcePosition = s.at, position(s.in.line-1)
		s.emit(m)
	}
	return nil
}

// emit adds a message to the ready entries.
func (s *codexRollout) emit(m *compactordv1.Message) {
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
		m.Origin = compactordv1.Origin_ORIGIN_IMPORT
	}
	s.names.see(m)
	s.messages++
	s.entries = append(s.entries, entry{message: m})
}
