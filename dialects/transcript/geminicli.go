package transcript

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// The texts at the start of USER messages that Gemini CLI itself writes.
const (
	geminiContextTag  = "<session_context>"
	geminiContextText = "This is the Gemini CLI."
	geminiSnapshotTag = "<state_snapshot>"
)

// recognizeGeminiCLI recognizes a recorded chat, a line of a chat that is recorded line by line, or a checkpoint: a
// list of Gemini's contents that begins with Gemini CLI's text about the folder it was started in.
func recognizeGeminiCLI(b beginning) verdict {
	switch {
	case b.array:
		if isGeminiContext(firstObject(b.Object, "parts")) {
			return yes
		}
		return no
	case b.Has("sessionId") && (b.Has("projectHash") || b.Has("startTime") && b.Has("lastUpdated")):
		return yes
	case isGeminiCheckpoint(b.Object):
		return yes
	default:
		return no
	}
}

func isGeminiContext(part rawjson.Object) bool {
	text, err := part.Text("text")
	return err == nil && (strings.HasPrefix(text, geminiContextTag) || strings.HasPrefix(text, geminiContextText))
}

// isGeminiCheckpoint reports whether it is a checkpoint of a newer version, which has the contents in a field.
func isGeminiCheckpoint(o rawjson.Object) bool {
	first := firstObject(o, "history")
	return first.Has("role") && first.Has("parts")
}

// openGeminiCLI reads a chat or a checkpoint.
func openGeminiCLI(in *lines, b beginning) (source, error) {
	beside := func(string, json.RawMessage) error {
		in.notes.add(chatField)
		return nil
	}
	switch {
	case b.array:
		return newGeminiCheckpoint(in.notes, newElements(in, "", nil)), nil
	case isGeminiCheckpoint(b.Object):
		return newGeminiCheckpoint(in.notes, newElements(in, "history", beside)), nil
	case b.line && !b.Has("messages"):
		return &geminiLines{in: in, chat: newGeminiChat(in.notes), at: make(map[string]int)}, nil
	default:
		chat := newGeminiChat(in.notes)
		return &elementSource{notes: in.notes, feed: newElements(in, "messages", beside), read: chat.read}, nil
	}
}

var chatField = leftOut("field on the chat", "fields on the chat")
