package prompts

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/lookalike"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// defaultChars is how much of a result or of arguments is shown if the request does not say.
const defaultChars = 2000

// maxLabel is how much of a tool's or a participant's name a header shows.
const maxLabel = 64

// messageWriter turns messages into text for a model.
type messageWriter struct {
	input  summarizers.Input
	redact func(string) string
}

func newMessageWriter(req *summarizers.Request) *messageWriter {
	mw := &messageWriter{input: req.Input, redact: redactor(req)}
	if mw.input.ToolResultChars <= 0 {
		mw.input.ToolResultChars = defaultChars
	}
	if mw.input.ToolArgumentChars <= 0 {
		mw.input.ToolArgumentChars = defaultChars
	}
	return mw
}

// redactor returns the function that every text must pass through before it is cut.
func redactor(req *summarizers.Request) func(string) string {
	if req.Redact == nil {
		return func(text string) string { return text }
	}
	return req.Redact
}

// passage is a header and the text below it.
type passage struct {
	// header is the text between the brackets, already escaped. body is redacted and not escaped.
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

// written returns passages as the model reads them.
func written(passages []passage) string {
	var b strings.Builder
	for _, p := range passages {
		p.write(&b)
	}
	return b.String()
}

// passages returns the passages of a message; none if the message is empty.
func (mw *messageWriter) passages(l *compactordv1.LoggedMessage) []passage {
	m := l.GetMessage()
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		return mw.user(l)
	case compactordv1.Role_ROLE_ASSISTANT:
		return mw.assistant(l)
	case compactordv1.Role_ROLE_TOOL:
		return mw.result(l)
	case compactordv1.Role_ROLE_SYSTEM:
		return mw.said(l, "system", mw.redact(prose(m)))
	case compactordv1.Role_ROLE_DEVELOPER:
		said, _ := summarizers.WithoutBlocks(prose(m), reminder, reminderEnd)
		return mw.said(l, "developer", mw.redact(strings.TrimSpace(said)))
	default:
		return nil
	}
}

// beside returns the passage of a message that is not in the log and that views show beside the summary.
func (mw *messageWriter) beside(m *compactordv1.Message) []passage {
	header := "system"
	switch m.GetRole() {
	case compactordv1.Role_ROLE_SYSTEM:
	case compactordv1.Role_ROLE_DEVELOPER:
		header = "developer"
	default:
		header = "context block: it stays beside the summary, so do not repeat it"
	}
	text := mw.redact(prose(m))
	if text == "" {
		return nil
	}
	return []passage{{header: header, body: text}}
}

// header returns the header of a message's passage: the message's index, and what the passage is.
func (mw *messageWriter) header(l *compactordv1.LoggedMessage, what string) string {
	return fmt.Sprintf("#%d %s", l.GetIndex(), what)
}

// said returns a passage with this text, or none if the text is empty.
func (mw *messageWriter) said(l *compactordv1.LoggedMessage, what, text string) []passage {
	if text == "" {
		return nil
	}
	return []passage{{header: mw.header(l, what), body: text}}
}

// The tags around a program's reminder to the agent.
const (
	reminder    = "<system-reminder>"
	reminderEnd = "</system-reminder>"
)

// user returns the passage of a user message: the user's words, without text that programs added. A message that a
// program wrote entirely becomes a note of a program. Reminders are left out, since they are not part of the
// conversation.
func (mw *messageWriter) user(l *compactordv1.LoggedMessage) []passage {
	m := l.GetMessage()
	text := prose(m)
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_CHILD {
		return mw.said(l, "result of a sub-agent", mw.output(text))
	}
	if name := origins[m.GetOrigin()]; name != "" {
		return mw.said(l, name, mw.redact(text))
	}
	what := "user"
	if name := mw.label(m.GetName()); name != "" {
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
		return mw.said(l, what, mw.redact(said))
	}
	note, _ := summarizers.WithoutBlocks(text, reminder, reminderEnd)
	return mw.said(l, "note of a program", mw.output(strings.TrimSpace(note)))
}

// origins names user messages that no user wrote.
var origins = map[compactordv1.Origin]string{
	compactordv1.Origin_ORIGIN_CONTINUE: "program: go on",
	compactordv1.Origin_ORIGIN_FUTURE:   "message from a later state of the conversation",
	compactordv1.Origin_ORIGIN_MARKER:   "checkpoint",
}

// assistant returns the passages of an agent's message: thinking, text and calls, always in this order.
func (mw *messageWriter) assistant(l *compactordv1.LoggedMessage) []passage {
	m := l.GetMessage()
	var passages []passage
	if mw.input.Thinking {
		passages = mw.said(l, "assistant thinking", mw.redact(thinking(m)))
	}
	text := mw.redact(strings.TrimPrefix(prose(m)+"\n"+attachments(m), "\n"))
	text = strings.TrimSuffix(text, "\n")
	what := "assistant"
	if ended := endings[m.GetStopReason()]; ended != "" {
		what += ", " + ended
		if m.GetErrorText() != "" {
			text = strings.TrimPrefix(text+"\n"+"Error: "+mw.output(m.GetErrorText()), "\n")
		}
		passages = append(passages, passage{header: mw.header(l, what), body: text})
	} else {
		passages = append(passages, mw.said(l, what, text)...)
	}
	if calls := mw.calls(m); calls != "" {
		passages = append(passages, passage{header: mw.header(l, "assistant calls"), body: calls, inline: true})
	}
	return passages
}

// endings names the ways in which an agent's message can end abnormally.
var endings = map[compactordv1.StopReason]string{
	compactordv1.StopReason_STOP_REASON_ERROR:   "failed",
	compactordv1.StopReason_STOP_REASON_ABORTED: "aborted",
	compactordv1.StopReason_STOP_REASON_LENGTH:  "cut off",
	compactordv1.StopReason_STOP_REASON_REFUSAL: "refused",
}

// result returns the passages of tool results. An empty result is left out, unless it failed.
func (mw *messageWriter) result(l *compactordv1.LoggedMessage) []passage {
	var passages []passage
	for _, p := range l.GetMessage().GetParts() {
		r := p.GetToolResult()
		if r == nil {
			continue
		}
		text := mw.output(resultText(r))
		if strings.TrimSpace(text) == "" && !r.GetIsError() {
			continue
		}
		name := r.GetName()
		if name == "" {
			name = l.GetAnswers().GetName()
		}
		what := "result of a tool"
		if name = mw.label(name); name != "" {
			what = "result of " + name
		}
		if r.GetIsError() {
			what += ", failed"
		}
		passages = append(passages, passage{header: mw.header(l, what), body: text})
	}
	return passages
}

// output returns the output of a tool or a program, redacted and cut to its limit.
func (mw *messageWriter) output(text string) string {
	c := cutting{notable: isErrorLine}
	return c.to(mw.redact(text), mw.input.ToolResultChars)
}

// label makes a name safe for a header.
func (mw *messageWriter) label(name string) string {
	name = wording.OneLine(strings.ToValidUTF8(mw.redact(name), ""), maxLabel)
	return escape(strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>#", r) || !lookalike.Shown(r) && r != ' ' {
			return '_'
		}
		return r
	}, name), false)
}

// prose returns all text of a message.
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

// attachments returns a line for each part of a message that is not text.
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

// resultText returns the text of a result, with a line for each piece that is not text.
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
