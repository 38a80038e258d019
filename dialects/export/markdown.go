package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Markdown writes messages for people to read: a heading with index and role for each, text unchanged, thinking as a
// quotation, calls and results in code fences. The format cannot be parsed. Headings within texts stay unchanged, so
// only the index distinguishes the messages' own headings.
//
// Characters that would control the terminal on which it is read are replaced: texts of tools and web pages must not
// move its cursor or set its title.
func Markdown(w io.Writer, messages []Message) error {
	out := bufio.NewWriter(w)
	for i, m := range messages {
		if i > 0 {
			fmt.Fprintln(out)
		}
		// The writer keeps its first error, which Flush returns.
		_, _ = out.WriteString(withoutControls(section(m)))
	}
	return out.Flush()
}

func section(m Message) string {
	var out strings.Builder
	fmt.Fprintf(&out, "## %s\n", heading(m))
	for _, p := range m.Message.GetParts() {
		if text := part(p); text != "" {
			fmt.Fprintf(&out, "\n%s\n", text)
		}
	}
	if text := m.Message.GetErrorText(); text != "" {
		fmt.Fprintf(&out, "\nThe provider's error:\n\n%s\n", fence("", text))
	}
	return out.String()
}

func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Message is a message with its heading.
type Message struct {
	Message *compactordv1.Message
	// Title is the start of the heading, before the role, such as `#12`.
	Title string
}

func heading(m Message) string {
	text := strings.TrimSpace(m.Title + " " + strings.ToLower(strings.TrimPrefix(m.Message.GetRole().String(), "ROLE_")))
	if name := m.Message.GetName(); name != "" {
		text += " " + inline(name)
	}
	if model := m.Message.GetModel(); model != "" {
		text += " (" + inline(model) + ")"
	}
	switch m.Message.GetStopReason() {
	case compactordv1.StopReason_STOP_REASON_ERROR:
		text += ", ended in an error"
	case compactordv1.StopReason_STOP_REASON_ABORTED:
		text += ", aborted"
	default:
	}
	return text
}

// inline returns a name on one line.
func inline(name string) string { return strings.Join(strings.Fields(name), " ") }

func part(p *compactordv1.Part) string {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return strings.TrimRight(k.Text.GetText(), "\n")
	case *compactordv1.Part_Thinking:
		if strings.TrimSpace(k.Thinking.GetText()) == "" {
			return "> *Thinking that only the provider can read.*"
		}
		return "> *Thinking:*\n>\n> " + strings.ReplaceAll(strings.TrimSpace(k.Thinking.GetText()), "\n", "\n> ")
	case *compactordv1.Part_ToolCall:
		return fmt.Sprintf("Calls `%s`:\n\n%s", inline(k.ToolCall.GetName()), arguments(k.ToolCall.GetArguments()))
	case *compactordv1.Part_ToolResult:
		return result(k.ToolResult)
	case *compactordv1.Part_Media:
		return wording.MediaLine(k.Media)
	case *compactordv1.Part_Opaque:
		return fmt.Sprintf("*An item of the provider: %s.*", inline(k.Opaque.GetType()))
	default:
		return ""
	}
}

func arguments(text string) string {
	if json.Valid([]byte(text)) {
		return fence("json", text)
	}
	return fence("", text)
}

func result(r *compactordv1.ToolResult) string {
	outcome := "Result"
	if r.GetIsError() {
		outcome = "Error"
	}
	if r.GetName() != "" {
		outcome += " of `" + inline(r.GetName()) + "`"
	}
	pieces := []string{outcome + ":"}
	for _, rp := range r.GetParts() {
		switch k := rp.GetKind().(type) {
		case *compactordv1.ResultPart_Text:
			pieces = append(pieces, fence("", k.Text.GetText()))
		case *compactordv1.ResultPart_Media:
			pieces = append(pieces, wording.MediaLine(k.Media))
		case *compactordv1.ResultPart_Opaque:
			pieces = append(pieces, fence("json", k.Opaque.GetJson()))
		}
	}
	return strings.Join(pieces, "\n\n")
}

// fence puts a text into a code fence that is longer than any run of backticks in the text.
func fence(language, text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	return marks + language + "\n" + strings.TrimRight(text, "\n") + "\n" + marks
}
