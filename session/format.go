package session

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ViewFormat is the format that views are drawn in. Heads and view-changing records carry it, so that logs can go on in
// theirs: once a log is out there, a change of wording or shape needs a new number, with the old one drawn beside it,
// since a changed prefix costs the provider's prompt cache and breaks the thinking that is bound to it.
const ViewFormat = 1

// minSpokenFor is how long a request must be, in bytes, for its text in the summary to be no accident: "go" is in many
// words.
const minSpokenFor = 40

// SummaryText is what a summary message says: the summary, and the slots that it does not hold itself.
func SummaryText(e *compactordv1.CompactionEntry) string {
	var b strings.Builder
	b.WriteString(SummaryFrame() + "\n\n<summary>\n")
	b.WriteString(summaryWrapper.escape(strings.TrimSpace(e.GetSummary())))
	b.WriteString("\n</summary>")
	writeTodos(&b, e.GetSlots().GetOpenTodos())
	if !e.GetFileTags() {
		writeUnnamedFiles(&b, "modified", e.GetFiles().GetModified(), e.GetSummary())
		writeUnnamedFiles(&b, "read", e.GetFiles().GetRead(), e.GetSummary())
	}
	writeLastRequest(&b, e)
	return b.String()
}

// SummaryFrame is what stands before a summary in every view. It is drawn and never stored.
func SummaryFrame() string {
	return "Earlier parts of this conversation were compacted; this summary stands in for them. " +
		"A number like [#12] is the index of the message that a line was taken from."
}

func writeTodos(b *strings.Builder, todos []*compactordv1.Todo) {
	if len(todos) == 0 {
		return
	}
	fmt.Fprintf(b, "\n\nTo-do list as of [#%d], what is still open:", todos[0].GetIndex())
	for _, t := range todos {
		mark := "pending"
		if t.GetInProgress() {
			mark = "in progress"
		}
		fmt.Fprintf(b, "\n- (%s) %s", mark, t.GetText())
	}
}

// writeUnnamedFiles lists the files that the summary does not name, as many as there is room for.
func writeUnnamedFiles(b *strings.Builder, how string, paths []string, summary string) {
	lines, more := pathLines(paths, func(path string) bool { return names(summary, path) })
	if lines != "" {
		fmt.Fprintf(b, "\n\nFiles %s that the summary does not name:%s", how, lines)
	}
	if more > 0 {
		fmt.Fprintf(b, "\n\nFurther files %s: %d", how, more)
	}
}

// names says whether a text names a file by its whole path, and not only one that it is a part of.
func names(text, path string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], path)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(path)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		behind, _ := utf8.DecodeRuneInString(text[end:])
		if (start == 0 || !inPath(before) && before != '.') && (end == len(text) || !inPath(behind)) {
			return true
		}
		from = start + 1
	}
}

func inPath(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(`_/\-`, r)
}

func writeLastRequest(b *strings.Builder, e *compactordv1.CompactionEntry) {
	req := e.GetSlots().GetLastUserRequest()
	if req == nil || len(req.GetText()) >= minSpokenFor && strings.Contains(e.GetSummary(), req.GetText()) {
		return
	}
	how := "word for word"
	if req.GetShortened() {
		how = "shortened"
	}
	fmt.Fprintf(b, "\n\nThe user's last request [#%d], %s:\n%s", req.GetIndex(), how, req.GetText())
}

// SummaryReply is what the ASSISTANT of a pair says after the summary.
func SummaryReply() string {
	return "Understood. The summary stands for what came before; the work goes on from there."
}

// ReplayNote stands before a request that the view shows again after the summary.
func ReplayNote() string {
	return "[The request below made the conversation too long for the provider. The conversation was compacted, and attached " +
		"media were taken out of it. Go on with the request from where the summary leaves off.]"
}

// MediaTooLargeNote stands behind the lines for the media of a request that the provider refused, where the view shows the
// request in its place and nothing else says why they are gone.
func MediaTooLargeNote() string {
	return "[The provider refused the conversation as too long, so attached media were taken out. Where the work needs them, " +
		"tell the user that they were too large.]"
}

// MissingResultText stands in for the result of a call that was closed without one.
func MissingResultText() string {
	return "No result: the conversation went on before the tool answered."
}

// StrayResultHeading introduces a result that answers no open call.
func StrayResultHeading(r *compactordv1.ToolResult) string {
	name := r.GetName()
	if name == "" {
		name = "a tool"
	}
	outcome := "Result"
	if r.GetIsError() {
		outcome = "Error"
	}
	return fmt.Sprintf("%s of %s that arrived when its call was no longer open:", outcome, name)
}

// MediaLine is the text that stands in for a medium, wherever only text can stand: in views, in summaries and what they are
// made of, in other dialects, and in what people read. It is one line, whatever the name holds.
func MediaLine(m *compactordv1.MediaPart) string {
	name := strings.Join(strings.Fields(m.GetName()), " ")
	if name == "" {
		name = "file"
	}
	return fmt.Sprintf("[Attached %s: %s]", m.GetMimeType(), name)
}

// Shorten cuts a text to at most n code points, keeping head and tail around a mark that tells how many are left out.
func Shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	head := n * 2 / 3
	tail := n - head
	return fmt.Sprintf("%s\n[... %d characters left out ...]\n%s",
		string(runes[:head]), len(runes)-n, string(runes[len(runes)-tail:]))
}
