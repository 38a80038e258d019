package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// signFields are fields by which formats are recognized, the most significant ones first. They are not part of the
// conversation, so errors can name them.
var signFields = []struct {
	format Format
	fields []string
}{
	{Pi, []string{"type", "id", "parentId", "version", "cwd", "firstKeptEntryId"}},
	{ClaudeCode, []string{"type", "uuid", "parentUuid", "sessionId", "message", "isSidechain"}},
	{Codex, []string{"type", "payload", "timestamp"}},
	{OpenHands, []string{"kind", "source", "llm_message", "tool_call", "observation", "action", "args", "history"}},
	{CopilotCLI, []string{"type", "data", "id", "parentId", "timestamp", "ephemeral"}},
	{GeminiCLI, []string{"sessionId", "projectHash", "messages", "history"}},
	{LangChain, []string{"lc", "kwargs", "type", "data", "additional_kwargs"}},
	{SWEAgent, []string{"trajectory", "history", "info", "environment"}},
	{MiniSWEAgent, []string{"trajectory_format", "messages", "info"}},
	{OpenAIResponses, []string{"type", "input", "output", "call_id", "instructions"}},
	{Anthropic, []string{"role", "content", "system", "messages"}},
	{Gemini, []string{"role", "parts", "contents", "systemInstruction"}},
	{OpenAIChat, []string{"role", "content", "messages", "tool_calls", "choices"}},
}

// unknownFormat describes an input of unknown format, and names the nearest format and the known ones.
func unknownFormat(seen []byte) error {
	what := "it does not begin with JSON"
	if len(seen) > 0 && (seen[0] == '{' || seen[0] == '[') {
		what = "its JSON holds no object"
		if o := firstSeen(seen); o != nil {
			what = "its first object has " + fieldsSeen(o)
			if len(o) == 0 {
				what = "its first object is empty"
			}
		}
	}
	return fmt.Errorf("%w: %s; %s", ErrUnknownFormat, what, knownFormats())
}

func firstSeen(seen []byte) rawjson.Object {
	found := parseBeginning(seen)
	if len(found) == 0 {
		return nil
	}
	return found[0].Object
}

// fieldsSeen names the fields that a known format has, counts the others, and names the format that has most of them.
func fieldsSeen(o rawjson.Object) string {
	var named []string
	nearest, most := Format(""), 0
	for _, sign := range signFields {
		hits := 0
		for _, field := range sign.fields {
			if _, there := o[field]; !there {
				continue
			}
			hits++
			if !slices.Contains(named, field) {
				named = append(named, field)
			}
		}
		if hits > most {
			nearest, most = sign.format, hits
		}
	}
	slices.Sort(named)
	text := strings.Join(named, ", ")
	if others := len(o) - len(named); others > 0 || len(named) == 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s and %s", text, unknownFields(others)), " and ")
	}
	if most > 1 {
		text += fmt.Sprintf(", the nearest is %s (%s)", string(nearest), nearest)
	}
	return text
}

// knownFormats lists the formats that can be read, and names the documentation.
func knownFormats() string {
	ids := make([]string, 0, len(formats()))
	for _, id := range Formats() {
		ids = append(ids, string(id))
	}
	return "known are " + strings.Join(ids, ", ") + "; see `compactord help dialects`, and --format names one"
}

// unreadable describes an input of which no record could be read: the format that was assumed, and the other known
// ones.
func unreadable(first *LineError, assumed Format) error {
	return &LineError{
		Line: first.Line, Field: first.Field,
		Err: fmt.Errorf("%w; nothing of it can be read as %s (%s); %s", first.Err, string(assumed), assumed, knownFormats()),
	}
}

func unknownFields(n int) string {
	if n == 1 {
		return "1 unknown field"
	}
	return fmt.Sprintf("%d unknown fields", n)
}
