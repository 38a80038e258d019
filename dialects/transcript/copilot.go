package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	copilotEvent = leftOut("event for the user interface", "events for the user interface")
	copilotAdded = noteText{
		one:  "1 request without what Copilot CLI added to it",
		many: "%d requests without what Copilot CLI added to them",
	}
	copilotTruncated = noteText{
		one:  "1 truncation not applied: all messages are read",
		many: "%d truncations not applied: all messages are read",
	}
	copilotFailed = leftOut("compaction that failed", "compactions that failed")
)

// copilotKinds begin the types of events of Copilot CLI.
var copilotKinds = []string{
	"session.", "user.", "assistant.", "tool.", "system.", "subagent.", "skill.", "hook.", "pending_messages.",
}

// recognizeCopilot recognizes an event of a session file: its type has a dot, and its fields are in `data`.
func recognizeCopilot(b beginning) verdict {
	kind, err := b.Text("type")
	if err != nil || b.array || rawjson.KindOf(b.Object["data"]) != rawjson.ObjectKind || !hasAnyPrefix(kind, copilotKinds) {
		return no
	}
	return yes
}

func openCopilot(in *lines, _ beginning) (source, error) {
	return &copilotSession{in: in, names: callNames{}, open: make(map[string]uint32)}, nil
}

// copilotSession reads the events of a session of Copilot CLI line by line.
type copilotSession struct {
	in       *lines
	names    callNames
	entries  []entry
	messages uint32
	// open holds for each call without a result how many messages were before its own.
	open map[string]uint32
	// cut is how many messages were before the start of the running compaction, which keeps the later ones. compacting
	// reports that one is running.
	cut        uint32
	compacting bool
	// model is the selected model. reasoning came in an event before the message that it belongs to.
	model, reasoning string
	// requested are the calls that the user made, by id.
	requested map[string]string
}

func (s *copilotSession) unit() unit { return unitLine }

func (s *copilotSession) next() (entry, error) {
	for len(s.entries) == 0 {
		_, line, err := s.in.object()
		if errors.Is(err, io.EOF) || err != nil {
			return entry{}, err
		}
		s.entries, err = entriesOfLine(s.in.notes, bytes.Clone(line), s.in.line, func(raw json.RawMessage) ([]entry, error) {
			err := s.event(raw)
			return s.entries, err
		})
		if err != nil {
			return entry{}, err
		}
	}
	e := s.entries[0]
	s.entries = s.entries[1:]
	return e, nil
}

// event reads one event. An event that cannot be read changes nothing.
func (s *copilotSession) event(raw json.RawMessage) error {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return err
	}
	data, err := o.Sub("data")
	if err != nil {
		return err
	}
	if o.Has("agentId") || data.Has("parentToolCallId") {
		s.in.notes.add(sidechainLine)
		return nil
	}
	at, err := writtenAt(o, time.Millisecond)
	if err != nil {
		return err
	}
	if !isCopilotEvent(kind) {
		return rawjson.In("type", errCopilotEvent)
	}
	return rawjson.In("data", s.parse(kind, at, data))
}

// parse reads the data of an event.
func (s *copilotSession) parse(kind string, at *timestamppb.Timestamp, data rawjson.Object) error {
	switch kind {
	case "system.message":
		return s.system(at, data)
	case "user.message":
		return s.user(at, data)
	case "assistant.message":
		return s.assistant(at, data)
	case "assistant.reasoning":
		var err error
		s.reasoning, err = data.BoundedText("content", maxText)
		return err
	case "tool.user_requested":
		return s.userTool(data)
	case "tool.execution_complete":
		return s.result(at, data)
	case "session.start":
		return s.selects(data, "selectedModel")
	case "session.model_change":
		return s.selects(data, "newModel")
	case "session.compaction_start":
		s.cut, s.compacting = s.boundary(), true
		return nil
	case "session.compaction_complete":
		return s.compaction(at, data)
	case "session.truncation":
		s.in.notes.add(copilotTruncated)
		return nil
	}
	s.in.notes.add(copilotEvent)
	return nil
}

// isCopilotEvent reports whether a type is that of an event, known or not.
func isCopilotEvent(kind string) bool {
	return strings.Contains(kind, ".") || kind == "abort" || kind == "result"
}

var errCopilotEvent = errors.New("is no event of Copilot CLI")

func (s *copilotSession) selects(data rawjson.Object, field string) error {
	model, err := data.BoundedText(field, maxName)
	if err == nil && model != "" {
		s.model = model
	}
	return err
}

// shown reports whether a text is not empty and differs from another one.
func shown(text, than string) bool {
	return strings.TrimSpace(text) != "" && strings.TrimSpace(text) != strings.TrimSpace(than)
}

// isCopilotNotice reports whether the user did not write a request.
func isCopilotNotice(source string) bool {
	return source != "" && !slices.Contains([]string{"user", "cli", "immediate-prompt"}, source)
}
