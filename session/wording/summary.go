package wording

import (
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

// Summary is the text of a summary message: the summary, and the facts that the summary does not contain.
func Summary(e *compactordv1.CompactionEntry) string {
	return SummaryFrame + "\n\n<summary>\n" + summaryWrapper.escape(strings.TrimSpace(e.GetSummary())) + "\n</summary>" +
		facts(e, e.GetSummary(), !e.GetFileTags())
}

// BesideItem is the text next to a provider's item: the facts that the item does not contain. said is the item's text;
// empty where only the provider can read it.
func BesideItem(e *compactordv1.CompactionEntry, said string) string {
	return strings.TrimLeft(facts(e, said, true), "\n")
}

// PathsBegin follows the directory, in backquotes, that the relative paths of a summary begin in.
const PathsBegin = "is where relative paths begin"

// names reports whether a text contains a file's path, whole or from the directory on that the text says relative paths
// begin in.
func names(text, path string) bool {
	if containsPath(text, path) {
		return true
	}
	before, _, ok := strings.Cut(text, "` "+PathsBegin)
	if !ok {
		return false
	}
	relative, ok := strings.CutPrefix(path, before[strings.LastIndexByte(before, '`')+1:]+"/")
	return ok && containsPath(text, relative)
}

// containsPath reports whether a text contains a path, and not only as a part of a longer path.
func containsPath(text, path string) bool {
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
