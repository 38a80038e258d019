package gemini

import (
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// The roles of contents. Some clients answer calls with the role of the function.
const (
	roleUser     = "user"
	roleModel    = "model"
	roleFunction = "function"
)

// The fields of a part that say what kind it is. First those with a neutral kind of part.
const (
	fieldCall     = "functionCall"
	fieldResponse = "functionResponse"
	fieldInline   = "inlineData"
	fieldFile     = "fileData"
	fieldText     = "text"
)

var (
	snakeKinds     = []string{"function_call", "function_response", "inline_data", "file_data"}
	modelledFields = []string{fieldCall, fieldResponse, fieldInline, fieldFile, fieldText}
	otherFields    = []string{
		"executableCode", "codeExecutionResult", "toolCall", "toolResponse",
		"executable_code", "code_execution_result", "tool_call", "tool_response",
	}
	// sideFields describe a part that has another field, and mean nothing alone.
	sideFields = []string{
		"thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "mediaResolution",
		"media_resolution", "partMetadata", "part_metadata", "mediaProcessing", "media_processing", "speechMetadata",
		"speech_metadata", "audioTranscription", "audio_transcription",
	}
)

// aliases are the second names that the API accepts for fields of parts.
var aliases = map[string]string{
	fieldCall: "function_call", fieldResponse: "function_response", fieldInline: "inline_data", fieldFile: "file_data",
}

var (
	errKey      = errors.New("a field that is not known has an overlong name, or one that means another field here")
	snakeFields = map[string]string{
		"function_call": "functionCall", "function_response": "functionResponse", "inline_data": "inlineData",
		"file_data": "fileData", "thought_signature": "thoughtSignature", "mime_type": "mimeType", "file_uri": "fileUri",
		"display_name": "displayName",
	}
)

// kindOf returns the field that says what kind a part is. Empty where there is none.
func kindOf(o rawjson.Object) string {
	for _, fields := range [][]string{modelledFields, otherFields} {
		for _, field := range fields {
			if o.Has(field) {
				return field
			}
		}
	}
	if unknown := o.Others(sideFields...); len(unknown) > 0 {
		return unknown[0]
	}
	return ""
}

// hasTwoKinds reports whether a part has two kinds at once. An empty text beside another kind does not count.
func hasTwoKinds(o rawjson.Object) bool {
	n := 0
	for _, fields := range [][]string{modelledFields, otherFields} {
		for _, field := range fields {
			if o.Has(field) && (field != fieldText || !isEmptyText(o, field)) {
				n++
			}
		}
	}
	return n > 1
}

// isEmptyText reports whether a field is the empty text, without decoding a long one.
func isEmptyText(o rawjson.Object, field string) bool { return string(o[field]) == `""` }
