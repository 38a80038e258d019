package wording

import (
	"fmt"
	"strings"
)

// Templates: strategies put figures in the place of {index}, {part}, {tool}, {tokens} and {omitted}. They are no part of the
// view's format, since an edit keeps the text that it was made with. All say how to get back what was there, in words that
// recall reads.
const (
	// HiddenResult stands in for a result where no placeholder is given.
	HiddenResult = "[The result of {tool} ({tokens} tokens) was hidden to free context. " +
		"To read it again, recall index {index}, part {part}.]"
	// ClearedArguments stands in for the arguments of a call, in the field ClearedKey of an object: providers refuse anything
	// else there.
	ClearedArguments = "the arguments ({tokens} tokens) were cleared to free context; recall index {index}, part {part}"
	ClearedKey       = "_cleared"
	// TruncationMark stands after what is left of a result where no placeholder is given.
	TruncationMark = "[{omitted} characters left out. To read the whole result, recall index {index}, part {part}.]"
	// RecallMark stands after the placeholder of a system that names nothing by which its agent could have the result back.
	RecallMark = " [recall #{index}.{part}]"
)

// ShortenedResult stands below a result that a summarizer wrote shorter.
func ShortenedResult(index, part uint32) string {
	return fmt.Sprintf("\n[A shortened result. To read the whole of it, recall index %d, part %d.]", index, part)
}

// OffloadedResult is a result in place of which views show the beginning.
type OffloadedResult struct {
	// Index is the message with the result, which is its part 0.
	Index uint32
	// Tool may be empty.
	Tool   string
	Tokens uint32
	Bytes  int
	// Media are the references of the pieces that are media, where there are other pieces; Text says that some are text.
	Media []string
	Text  bool
}

// Placeholder says what was there and how to have it.
func (r *OffloadedResult) Placeholder() string {
	of := ""
	if r.Tool != "" {
		of = " of " + r.Tool
	}
	has := fmt.Sprintf("[The result%s has %d tokens (%d bytes) in all", of, r.Tokens, r.Bytes)
	if len(r.Media) == 0 {
		return fmt.Sprintf("%s. To read the whole of it, recall index %d, part 0.]", has, r.Index)
	}
	if !r.Text {
		return fmt.Sprintf("%s: the media %s. To have one, recall it by its number.]", has, listed(r.Media))
	}
	return fmt.Sprintf("%s, the media %s among them. To read its text, recall index %d, part 0.]",
		has, listed(r.Media), r.Index)
}

// PieceReference names a piece of the result that a message is.
func PieceReference(index uint32, piece int) string { return fmt.Sprintf("#%d.0.%d", index, piece) }

// maxListed bounds the references of one placeholder.
const maxListed = 20

func listed(references []string) string {
	text := strings.Join(references[:min(len(references), maxListed)], ", ")
	if more := len(references) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// What came of a call, in the line that stands in for it, where there is no text of the result to tell.
const (
	NoResult = "no result"
	NoOutput = "no output"
	Failed   = "error"
)

// MediaTooLargeNote stands after the lines for the media of a request that the provider refused, where the view shows the
// request in its place and nothing else says why they are gone.
const MediaTooLargeNote = "[The provider refused the conversation as too long, so attached media were taken out. Where the " +
	"work needs them, tell the user that they were too large.]"
