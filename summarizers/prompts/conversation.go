package prompts

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// What of results and arguments is shown where the request does not say.
const defaultChars = 2000

// maxLabel is how much of a tool's or a participant's name stands in a header.
const maxLabel = 64

// scribe writes messages down for a model.
type scribe struct {
	input  summarizers.Input
	redact func(string) string
}

func newScribe(req *summarizers.Request) *scribe {
	s := &scribe{input: req.Input, redact: redactor(req)}
	if s.input.ToolResultChars <= 0 {
		s.input.ToolResultChars = defaultChars
	}
	if s.input.ToolArgumentChars <= 0 {
		s.input.ToolArgumentChars = defaultChars
	}
	return s
}

// redactor is what every text goes through before it is cut.
func redactor(req *summarizers.Request) func(string) string {
	if req.Redact == nil {
		return func(text string) string { return text }
	}
	return req.Redact
}

// passage is what stands below one header.
type passage struct {
	// header is all of it between the brackets, escaped; body is redacted and not escaped.
	header, body string
	// inline says that the body follows the header on its line.
	inline bool
}

// write adds the passage to a text.
func (p passage) write(b *strings.Builder) {
	b.WriteByte('[')
	b.WriteString(p.header)
	b.WriteByte(']')
	if p.body != "" {
		if p.inline {
			b.WriteByte(' ')
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(escape(p.body, false))
	}
	b.WriteString("\n\n")
}

// written is passages as the model reads them.
func written(passages []passage) string {
	var b strings.Builder
	for _, p := range passages {
		p.write(&b)
	}
	return b.String()
}

// passages writes a message down; nothing where it says nothing.
func (s *scribe) passages(l *compactordv1.LoggedMessage) []passage {
	m := l.GetMessage()
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		return s.user(l)
	case compactordv1.Role_ROLE_ASSISTANT:
		return s.assistant(l)
	case compactordv1.Role_ROLE_TOOL:
		return s.result(l)
	case compactordv1.Role_ROLE_SYSTEM:
		return s.said(l, "system", s.redact(prose(m)))
	case compactordv1.Role_ROLE_DEVELOPER:
		said, _ := summarizers.WithoutBlocks(prose(m), reminder, reminderEnd)
		return s.said(l, "developer", s.redact(strings.TrimSpace(said)))
	default:
		return nil
	}
}

// header is that of a message: its index, and what the passage is.
func (s *scribe) header(l *compactordv1.LoggedMessage, what string) string {
	return fmt.Sprintf("#%d %s", l.GetIndex(), what)
}

// said is a passage of text, or nothing where there is none.
func (s *scribe) said(l *compactordv1.LoggedMessage, what, text string) []passage {
	if text == "" {
		return nil
	}
	return []passage{{header: s.header(l, what), body: text}}
}

// The tags in which a program reminds the agent of something.
const (
	reminder    = "<system-reminder>"
	reminderEnd = "</system-reminder>"
)

// user writes down a user message: what the user said, without what programs put into it. Where a program wrote all of
// it, it is told as a program's, but for reminders, which are no part of the conversation.
func (s *scribe) user(l *compactordv1.LoggedMessage) []passage {
	m := l.GetMessage()
	text := prose(m)
	if name := origins[m.GetOrigin()]; name != "" {
		return s.said(l, name, s.redact(text))
	}
	what := "user"
	if name := s.label(m.GetName()); name != "" {
		what += " " + name
	}
	said, injected := summarizers.Said(text)
	if !injected {
		said = text
	}
	if attached := attachments(m); attached != "" {
		said = strings.TrimPrefix(said+"\n"+attached, "\n")
	}
	if said != "" {
		return s.said(l, what, s.redact(said))
	}
	note, _ := summarizers.WithoutBlocks(text, reminder, reminderEnd)
	return s.said(l, "note of a program", s.output(strings.TrimSpace(note)))
}

// origins say what a user message is that no user wrote.
var origins = map[compactordv1.Origin]string{
	compactordv1.Origin_ORIGIN_CONTINUE: "program: go on",
	compactordv1.Origin_ORIGIN_FUTURE:   "message from a later state of the conversation",
	compactordv1.Origin_ORIGIN_MARKER:   "checkpoint",
}

// assistant writes down a message of the agent: thinking, text and calls, in that order whatever theirs is.
func (s *scribe) assistant(l *compactordv1.LoggedMessage) []passage {
	m := l.GetMessage()
	var passages []passage
	if s.input.Thinking {
		passages = s.said(l, "assistant thinking", s.redact(thinking(m)))
	}
	text := s.redact(strings.TrimPrefix(prose(m)+"\n"+attachments(m), "\n"))
	text = strings.TrimSuffix(text, "\n")
	what := "assistant"
	if ended := endings[m.GetStopReason()]; ended != "" {
		what += ", " + ended
		if m.GetErrorText() != "" {
			text = strings.TrimPrefix(text+"\n"+"Error: "+s.output(m.GetErrorText()), "\n")
		}
		passages = append(passages, passage{header: s.header(l, what), body: text})
	} else {
		passages = append(passages, s.said(l, what, text)...)
	}
	if calls := s.calls(m); calls != "" {
		passages = append(passages, passage{header: s.header(l, "assistant calls"), body: calls, inline: true})
	}
	return passages
}

// endings say how a message of the agent ended where that is not as it should.
var endings = map[compactordv1.StopReason]string{
	compactordv1.StopReason_STOP_REASON_ERROR:   "failed",
	compactordv1.StopReason_STOP_REASON_ABORTED: "aborted",
	compactordv1.StopReason_STOP_REASON_LENGTH:  "cut off",
	compactordv1.StopReason_STOP_REASON_REFUSAL: "refused",
}

// result writes down what a tool answered. One that says nothing is left out, unless it failed.
func (s *scribe) result(l *compactordv1.LoggedMessage) []passage {
	var passages []passage
	for _, p := range l.GetMessage().GetParts() {
		r := p.GetToolResult()
		if r == nil {
			continue
		}
		text := s.output(resultText(r))
		if strings.TrimSpace(text) == "" && !r.GetIsError() {
			continue
		}
		name := r.GetName()
		if name == "" {
			name = l.GetAnswers().GetName()
		}
		what := "result of a tool"
		if name = s.label(name); name != "" {
			what = "result of " + name
		}
		if r.GetIsError() {
			what += ", failed"
		}
		passages = append(passages, passage{header: s.header(l, what), body: text})
	}
	return passages
}

// output is what a tool or a program wrote, cut to what is shown of it.
func (s *scribe) output(text string) string {
	c := cutting{tells: tellsError}
	return c.to(s.redact(text), s.input.ToolResultChars)
}

// label makes a name safe to stand in a header.
func (s *scribe) label(name string) string {
	name = wording.OneLine(strings.ToValidUTF8(s.redact(name), ""), maxLabel)
	return escape(strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>#", r) || !shown(r) && r != ' ' {
			return '_'
		}
		return r
	}, name), false)
}

// prose is all text of a message.
func prose(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		if text := p.GetText().GetText(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func thinking(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		if text := p.GetThinking().GetText(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// attachments tells of what is no text in a message, a line each.
func attachments(m *compactordv1.Message) string {
	var lines []string
	for _, p := range m.GetParts() {
		switch {
		case p.GetMedia() != nil:
			lines = append(lines, wording.MediaLine(p.GetMedia()))
		case p.GetOpaque() != nil:
			lines = append(lines, wording.ItemLine(p.GetOpaque()))
		}
	}
	return strings.Join(lines, "\n")
}

// resultText is what a result says, one piece below the other.
func resultText(r *compactordv1.ToolResult) string {
	texts := make([]string, len(r.GetParts()))
	for i, piece := range r.GetParts() {
		switch {
		case piece.GetMedia() != nil:
			texts[i] = wording.MediaLine(piece.GetMedia())
		case piece.GetOpaque() != nil:
			texts[i] = wording.ItemLine(piece.GetOpaque())
		default:
			texts[i] = piece.GetText().GetText()
		}
	}
	return strings.Join(texts, "\n")
}
