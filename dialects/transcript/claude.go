package transcript

import (
	"errors"
	"io"
	"time"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	sidechainLine    = leftOut("line of a subagent", "lines of subagents")
	claudeTitle      = leftOut("session title", "session titles")
	claudeNews       = leftOut("line of news for the user alone (hooks, durations, snapshots, settings, progress)", "lines of news for the user alone (hooks, durations, snapshots, settings, progress)")
	claudeAPIError   = leftOut("request that failed and was sent again", "requests that failed and were sent again")
	clearedByClaude  = leftOut("microcompaction, which only cleared results", "microcompactions, which only cleared results")
	claudeAttachment = leftOut("attachment that the model was not shown", "attachments that the model was not shown")
	claudeRepeated   = leftOut("line that repeats an earlier one", "lines that repeat earlier ones")
	transcriptOnly   = leftOut("message that the model was not shown", "messages that the model was not shown")

	errClaudeType = errors.New("unknown type of line")
)

// claudeKinds holds the known types of lines, and the notes on those without content for a log.
var claudeKinds = map[string]noteText{
	"user":                  {},
	"assistant":             {},
	"system":                {},
	"attachment":            {},
	"queue-operation":       {},
	"summary":               claudeTitle,
	"custom-title":          claudeTitle,
	"ai-title":              claudeTitle,
	"agent-name":            claudeTitle,
	"agent-color":           claudeNews,
	"agent-setting":         claudeNews,
	"file-history-snapshot": claudeNews,
	"last-prompt":           claudeNews,
	"permission-mode":       claudeNews,
	"mode":                  claudeNews,
	"progress":              claudeNews,
	"pr-link":               claudeNews,
	"tag":                   claudeNews,
	"worktree-state":        claudeNews,
}

// recognizeClaude recognizes lines that hold a message and its place in the tree. Other lines at the start of a file
// (titles, snapshots) decide nothing.
func recognizeClaude(b beginning) verdict {
	kind, err := b.Text("type")
	if _, known := claudeKinds[kind]; err != nil || !known || b.array {
		return no
	}
	_, inTree := b.Object["parentUuid"]
	switch {
	case inTree && b.Has("uuid") && b.Has("sessionId"),
		kind == "file-history-snapshot" && b.Has("snapshot"),
		kind == "summary" && b.Has("leafUuid"),
		kind == "queue-operation" && b.Has("sessionId"):
		return yes
	default:
		return no
	}
}

// openClaude reads a session file of Claude Code.
func openClaude(in *lines, _ beginning) (source, error) {
	return &claudeSession{
		in: in, notes: in.notes, dialect: anthropic.New(),
		open: make(map[string]bool), names: make(callNames), before: make(map[string]uint32),
	}, nil
}

// claudeLine is a line of a session file.
type claudeLine struct {
	rawjson.Object
	kind, uuid, parent string
	// message is the id of the provider's message that an assistant's line is a piece of. calls and results are the ids of
	// the tool calls and results in it.
	message        string
	calls, results []string
	at             int // in the file, from 1
	// before is the line before it in the file that belongs to the conversation. It is nil for the first.
	before *claudeLine
	onPath bool
}

// claudeSession reads a session file of Claude Code. The file is a tree: each line names its parent, and the
// conversation is the path to the last line. The whole file is read first, since only the end shows the path.
type claudeSession struct {
	in      *lines
	notes   *noteCounter
	dialect dialect.Dialect
	path    []*claudeLine
	whole   bool
	// pieces are the lines on the path, by the id of the provider's message.
	pieces map[string][]*claudeLine
	queue  claudeQueue
	// boundary is the line about the compaction whose summary comes next.
	boundary *claudeLine
	// open are the calls without a result so far. USER messages in between wait for the results.
	open    map[string]bool
	names   callNames
	waiting []entry
	ready   []entry
	// messages counts the messages that were returned. before holds that count at each line.
	messages uint32
	before   map[string]uint32
}

func (s *claudeSession) unit() unit { return unitLine }

func (s *claudeSession) next() (entry, error) {
	if !s.whole {
		if err := s.readTree(); err != nil {
			return entry{}, err
		}
		s.whole = true
	}
	for len(s.ready) == 0 {
		if len(s.path) == 0 {
			if s.flush(); len(s.ready) == 0 {
				return entry{}, io.EOF
			}
			break
		}
		l := s.path[0]
		s.path[0] = nil
		s.path = s.path[1:]
		s.before[l.uuid] = s.messages + uint32(len(s.waiting))
		if err := s.parse(l); err != nil {
			return entry{}, onLine(l.at, err)
		}
	}
	e := s.ready[0]
	s.ready = s.ready[1:]
	return e, nil
}

// parse makes entries from a line on the path.
func (s *claudeSession) parse(l *claudeLine) error {
	switch l.kind {
	case "assistant":
		return s.assistant(l)
	case "user":
		return s.user(l)
	case "attachment":
		return s.attachment(l)
	case "queue-operation":
		return s.queued(l)
	default:
		return s.system(l)
	}
}

// emit adds a message to the ready entries. A USER message that came while calls were open waits for their results,
// since in a log it would mean that the calls were given up.
func (s *claudeSession) emit(m *compactordv1.Message, l *claudeLine) error {
	m.SourcePosition = position(l.at - 1)
	at, err := writtenAt(l.Object, time.Millisecond)
	if m.WrittenAt, err = s.notes.orUntimed(at, err, l.at); err != nil {
		return err
	}
	if m.GetRole() == compactordv1.Role_ROLE_USER && len(s.open) > 0 {
		s.waiting = append(s.waiting, entry{message: m})
		return nil
	}
	if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		s.flush()
	}
	s.messages++
	s.ready = append(s.ready, entry{message: m})
	s.names.see(m)
	for _, p := range m.GetParts() {
		switch {
		case p.GetToolCall() != nil:
			s.open[p.GetToolCall().GetId()] = true
		case p.GetToolResult() != nil:
			delete(s.open, p.GetToolResult().GetCallId())
		}
	}
	if len(s.open) == 0 {
		s.flush()
	}
	return nil
}

// flush emits the waiting messages. Calls that are still open stay without a result.
func (s *claudeSession) flush() {
	clear(s.open)
	s.messages += uint32(len(s.waiting))
	s.ready = append(s.ready, s.waiting...)
	s.waiting = nil
}
