package wording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// SummaryFrame comes before a summary in every view. It is never stored.
const SummaryFrame = "Earlier parts of this conversation were compacted; this summary stands in for them. " +
	"A number like [#12] is the index of the message that a line was taken from."

// SummaryReply is the ASSISTANT message after the summary, where the placement is PAIR.
const SummaryReply = "Understood. The summary stands for what came before; the work goes on from there."

// ReplayNote comes before a request that the view replays after the summary.
const ReplayNote = "[The request below made the conversation too long for the provider. The conversation was compacted, and " +
	"attached media were taken out of it. Go on with the request from where the summary leaves off.]"

// minQuoteBytes is the shortest request, in bytes, that counts as quoted where the summary contains its text. A shorter
// one, such as "go", can be in it by accident.
const minQuoteBytes = 40

// Summary is the text of a summary message: the summary, and the slots and files that the summary does not contain.
func Summary(e *compactordv1.CompactionEntry) string {
	var b strings.Builder
	b.WriteString(SummaryFrame + "\n\n<summary>\n")
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

// BesideItem is the text next to a provider's item: the slots and files that the item does not contain. said is the
// item's text; empty where only the provider can read it.
func BesideItem(e *compactordv1.CompactionEntry, said string) string {
	var b strings.Builder
	writeTodos(&b, e.GetSlots().GetOpenTodos())
	writeUnnamedFiles(&b, "modified", e.GetFiles().GetModified(), said)
	writeUnnamedFiles(&b, "read", e.GetFiles().GetRead(), said)
	writeLastRequest(&b, &compactordv1.CompactionEntry{Summary: said, Slots: e.GetSlots()})
	return strings.TrimLeft(b.String(), "\n")
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

// writeUnnamedFiles writes a list of the files that the summary does not name, at most maxPathLineBytes of it.
func writeUnnamedFiles(b *strings.Builder, how string, paths []string, summary string) {
	lines, more := pathLines(paths, func(path string) bool { return names(summary, path) })
	if lines != "" {
		fmt.Fprintf(b, "\n\nFiles %s that the summary does not name:%s", how, lines)
	}
	if more > 0 {
		fmt.Fprintf(b, "\n\nFurther files %s: %d", how, more)
	}
}

// names reports whether a text contains a file's whole path, and not only as a part of a longer path.
func names(text, path string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], path)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(path)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if (start == 0 || !inPath(before) && before != '.') && (end == len(text) || !inPath(after)) {
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
	if req == nil || len(req.GetText()) >= minQuoteBytes && strings.Contains(e.GetSummary(), req.GetText()) {
		return
	}
	how := "word for word"
	if req.GetShortened() {
		how = "shortened"
	}
	fmt.Fprintf(b, "\n\nThe user's last request [#%d], %s:\n%s", req.GetIndex(), how, req.GetText())
}
