package wording

import (
	"fmt"
	"strings"
)

// Templates of placeholders. Strategies replace {index}, {part}, {tool}, {tokens} and {omitted} by figures. They are
// not part of the view format, since an edit stores its text. Each says how to get the content back, in words that
// recall understands.
const (
	// HiddenResult replaces a result where no placeholder is given.
	HiddenResult = "[The result of {tool} ({tokens} tokens) was hidden to free context. " +
		"To read it again, recall index {index}, part {part}.]"
	// ClearedArguments replaces the arguments of a call. It is the field ClearedKey of an object, since providers
	// accept only objects there.
	ClearedArguments = "the arguments ({tokens} tokens) were cleared to free context; recall index {index}, part {part}"
	ClearedKey       = "_cleared"
	// TruncationMark follows what is left of a truncated result where no placeholder is given.
	TruncationMark = "[{omitted} characters left out. To read the whole result, recall index {index}, part {part}.]"
	// RecallMark follows the placeholder of a system that does not say how its agent can get the result back.
	RecallMark = " [recall #{index}.{part}]"
)

// ShortenedResult follows a result that a summarizer has shortened.
func ShortenedResult(index, part uint32) string {
	return fmt.Sprintf("\n[A shortened result. To read the whole of it, recall index %d, part %d.]", index, part)
}

// OffloadedResult describes a result of which views show only the beginning.
type OffloadedResult struct {
	// Index is the index of the message with the result, which is its part 0.
	Index uint32
	// Tool is the tool's name; may be empty.
	Tool   string
	Tokens uint32
	Bytes  int
	// Media are the references of the result's media parts, where it has other parts too. Text reports whether one of
	// those is text.
	Media []string
	Text  bool
}

// Placeholder is the text that says what was there and how to get it back.
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

// PieceReference returns the reference of one part of the result in the message with this index.
func PieceReference(index uint32, piece int) string { return fmt.Sprintf("#%d.0.%d", index, piece) }

// maxListed is the most references in one placeholder.
const maxListed = 20

func listed(references []string) string {
	text := strings.Join(references[:min(len(references), maxListed)], ", ")
	if more := len(references) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// The outcome of a call in the line that replaces it, where the result has no text.
const (
	NoResult = "no result"
	NoOutput = "no output"
	Failed   = "error"
)

// MediaTooLargeNote follows the lines for the media of a request that the provider refused, where the view shows the
// request in its place and nothing else says why the media are gone.
const MediaTooLargeNote = "[The provider refused the conversation as too long, so attached media were taken out. Where the " +
	"work needs them, tell the user that they were too large.]"
