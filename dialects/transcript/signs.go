package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// What only one provider's messages have. A message without any of it, such as a plain text of the user, is the same in
// several shapes.
var (
	chatKeys   = []string{"tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal"}
	chatParts  = []string{"image_url", "input_audio", "file", "refusal"}
	claudeKeys = []string{"system", "anthropic_version", "thinking", "stop_sequences", "top_k"}
	geminiKeys = []string{"contents", "candidates", "systemInstruction", "system_instruction"}
	itemParts  = []string{"input_text", "input_image", "input_file", "output_text", "summary_text", "reasoning_text"}
	itemTypes  = []string{
		"reasoning", "item_reference", "compaction", "compaction_trigger", "image_generation_call",
		"code_interpreter_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
	}
	claudeParts = []string{"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result"}
)

// signOf returns the provider whose message or item an object is. Empty where several are possible.
func signOf(o rawjson.Object) Format {
	kind, err := o.Text("type")
	if err != nil {
		return ""
	}
	switch {
	case isItemType(kind):
		return OpenAIResponses
	case kind == "message" && (o.Has("stop_reason") || o.Has("usage")):
		return Anthropic
	case rawjson.KindOf(o["parts"]) == rawjson.Array:
		return Gemini
	case o.IsText("role", "tool"), o.IsText("role", compactionRole), hasAny(o, chatKeys):
		return OpenAIChat
	}
	if sign := signOfContent(o["content"]); sign != "" {
		return sign
	}
	if kind == "message" && o.Has("role") {
		return OpenAIResponses
	}
	return ""
}

func isItemType(kind string) bool {
	return slices.Contains(itemTypes, kind) || strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}

func hasAny(o rawjson.Object, keys []string) bool { return slices.ContainsFunc(keys, o.Has) }

// signOfContent looks for a part that only one provider has.
func signOfContent(raw json.RawMessage) Format {
	for _, part := range objectsOf(raw) {
		kind, err := part.Text("type")
		switch {
		case err != nil:
		case slices.Contains(claudeParts, kind), part.Has("source"), part.Has("cache_control") && kind == "image",
			strings.HasSuffix(kind, "_tool_use"), strings.HasSuffix(kind, "_tool_result"):
			return Anthropic
		case slices.Contains(itemParts, kind):
			return OpenAIResponses
		case slices.Contains(chatParts, kind):
			return OpenAIChat
		}
	}
	return ""
}

// objectsOf returns the elements of an array that are objects.
func objectsOf(raw json.RawMessage) []rawjson.Object {
	if rawjson.KindOf(raw) != rawjson.Array {
		return nil
	}
	elements, err := rawjson.ParseArray(raw)
	if err != nil {
		return nil
	}
	objects := make([]rawjson.Object, 0, len(elements))
	for _, element := range elements {
		if o, err := rawjson.ParseObject(element); err == nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// signOfBody returns the provider whose request or response an object is. found is false where it is none.
func signOfBody(o rawjson.Object) (sign Format, found bool) {
	switch {
	case rawjson.KindOf(o["choices"]) == rawjson.Array:
		return OpenAIChat, true
	case hasAny(o, geminiKeys):
		return Gemini, true
	case o.Has("input") && !o.Has("messages"), o.IsText("object", "response"):
		return OpenAIResponses, !o.Has("type") && !o.Has("role")
	case rawjson.KindOf(o["messages"]) != rawjson.Array:
		return "", false
	case hasAny(o, claudeKeys):
		return Anthropic, true
	}
	for _, message := range objectsOf(o["messages"]) {
		if sign := signOf(message); sign == OpenAIChat || sign == Anthropic {
			return sign, true
		}
	}
	for _, tool := range objectsOf(o["tools"]) {
		if tool.Has("input_schema") {
			return Anthropic, true
		}
	}
	return "", true
}

// recognizeProvider recognizes objects that only this provider has.
func recognizeProvider(id Format) func(beginning) verdict {
	return func(b beginning) verdict {
		sign, found := signOfBody(b.Object)
		if !found || b.array {
			sign = signOf(b.Object)
		}
		if sign == id {
			return yes
		}
		return no
	}
}

// recognizeOpenAI also recognizes objects that several providers have, since its shape is the most common one and is
// parsed with the same result.
func recognizeOpenAI(b beginning) verdict {
	if v := recognizeProvider(OpenAIChat)(b); v == yes {
		return yes
	}
	sign, found := signOfBody(b.Object)
	if !found || b.array {
		sign, found = signOf(b.Object), rawjson.KindOf(b.Object["role"]) == rawjson.String
	}
	if found && sign == "" {
		return maybe
	}
	return no
}
