package dialect

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// Texts that stand in for what a provider's list cannot hold. A change of them changes views: see session.ViewFormat.
const (
	// EmptyUserText is what a USER message without content says, where the provider wants some.
	EmptyUserText = "(empty message)"
	// OpeningText is what the user says before an ASSISTANT message that the provider does not want first.
	OpeningText = "(The conversation begins with the assistant.)"
	// RawArgumentsKey holds arguments that are no JSON object, where the provider wants one.
	RawArgumentsKey = "_raw"
)

// InstructionText is a SYSTEM or DEVELOPER message where only the user can speak.
func InstructionText(text string) string {
	return "[Instruction of the application, not of the user]\n" + text
}

// ErrorResultText is the result of a tool that failed, where the provider has no flag for that.
func ErrorResultText(text string) string {
	if text == "" {
		return "[The tool failed]"
	}
	return "[The tool failed]\n" + text
}

// ArgumentsObject returns a call's arguments as a JSON object: themselves where they are one, else an object that holds
// them as text. changed says that they were none.
func ArgumentsObject(arguments string) (object json.RawMessage, changed bool) {
	raw := json.RawMessage(trimSpace(arguments))
	if len(raw) == 0 {
		return json.RawMessage("{}"), false
	}
	if rawjson.KindOf(raw) == rawjson.ObjectKind && json.Valid(raw) {
		return raw, false
	}
	return rawjson.Object{RawArgumentsKey: rawjson.Quote(arguments)}.Encode(), true
}

func trimSpace(text string) string {
	first, end := 0, len(text)
	for first < end && isSpace(text[first]) {
		first++
	}
	for first < end && isSpace(text[end-1]) {
		end--
	}
	return text[first:end]
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
