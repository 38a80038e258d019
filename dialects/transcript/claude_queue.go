package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// claudeQueue holds what came while the model worked: prompts that the user typed, and news of background tasks.
type claudeQueue struct {
	// attached reports that the file has these messages as attachments anyway.
	attached bool
	waiting  []string
}

// attachesQueue reports whether a file has the messages of its queue as attachments, as later versions write them.
func attachesQueue(path []*claudeLine) bool {
	return slices.ContainsFunc(path, func(l *claudeLine) bool {
		attached, err := l.Sub("attachment")
		return err == nil && attached.IsText("type", "queued_command")
	})
}

// queued reads an operation on the queue. A removed message was shown to the model at once, and is in no other line. A
// dequeued one has its own line, and a popped one went back to the user.
func (s *claudeSession) queued(l *claudeLine) error {
	operation, err := l.Text("operation")
	if err != nil {
		return err
	}
	q := &s.queue
	switch operation {
	case "enqueue":
		text, err := l.BoundedText("content", maxText)
		q.waiting = append(q.waiting, text)
		return err
	case "popAll":
		q.waiting = nil
		return nil
	case "remove", "dequeue":
	default:
		return nil
	}
	if len(q.waiting) == 0 {
		return nil
	}
	text := q.waiting[0]
	q.waiting = q.waiting[1:]
	abandoned := l.before != nil && !l.before.onPath
	if operation == "dequeue" || q.attached || text == "" || abandoned {
		return nil
	}
	return s.emit(claudePrompt(text), l)
}

// claudePrompt returns a USER message with this text, which the user or Claude Code wrote.
func claudePrompt(text string) *compactordv1.Message {
	m := &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_USER,
		Origin: compactordv1.Origin_ORIGIN_IMPORT,
		Parts:  []*compactordv1.Part{textPart(text)},
	}
	if isClaudeNotice(text) {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	return m
}

// claudeUnshown are the types of attachments that the model does not see.
var claudeUnshown = []string{
	"hook_success", "hook_system_message", "hook_cancelled", "hook_non_blocking_error", "hook_error_during_execution",
	"hook_permission_decision", "command_permissions", "structured_output", "dynamic_skill", "already_read_file",
}

// attachment reads what Claude Code itself added to the conversation. The model sees it as the user's text, in words
// that the file does not have. Here it is the attachment's type and its logged content.
func (s *claudeSession) attachment(l *claudeLine) error {
	attached, err := l.Sub("attachment")
	if err != nil {
		return err
	}
	kind, err := attached.Text("type")
	if err != nil {
		return rawjson.In("attachment", err)
	}
	switch {
	case kind == "" || slices.Contains(claudeUnshown, kind):
		s.notes.add(claudeAttachment)
		return nil
	case kind == "queued_command":
		return s.queuedCommand(l, attached)
	}
	text := "[" + kind + "]\n" + attachmentText(attached)
	if len(text) > maxText {
		return rawjson.In("attachment", rawjson.TooLarge(len(text), maxText))
	}
	m := claudePrompt(text)
	m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	return s.emit(m, l)
}

// attachmentText returns the content of an attachment where that is a text, otherwise its whole JSON.
func attachmentText(attached rawjson.Object) string {
	content := attached["content"]
	var text string
	if rawjson.KindOf(content) == rawjson.String && json.Unmarshal(content, &text) == nil {
		return text
	}
	var texts []string
	if rawjson.KindOf(content) == rawjson.Array && json.Unmarshal(content, &texts) == nil && len(texts) > 0 {
		return strings.Join(texts, "\n")
	}
	delete(attached, "type")
	return string(attached.Encode())
}

// queuedCommand reads what the user typed while the model worked: a text, or blocks of content.
func (s *claudeSession) queuedCommand(l *claudeLine, attached rawjson.Object) error {
	prompt := attached["prompt"]
	if !attached.Has("prompt") {
		prompt = json.RawMessage(`""`)
	}
	messages, err := parseOne(s.dialect, rawjson.Object{"role": rawjson.Quote("user"), "content": prompt}.Encode(), s.notes)
	if err != nil {
		return rawjson.In("attachment", rawjson.In("prompt", err))
	}
	for _, m := range messages {
		if isClaudeNotice(joinTexts(m.GetParts())) {
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		}
		if err := s.emit(m, l); err != nil {
			return err
		}
	}
	return nil
}
