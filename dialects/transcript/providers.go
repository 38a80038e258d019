package transcript

import (
	"strings"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
)

func openAnthropic(in *lines, b beginning) (source, error) {
	return provider{dialect: anthropic.New(), list: "messages", around: []string{"system"}}.open(in, b)
}

func openGemini(in *lines, b beginning) (source, error) {
	return provider{
		dialect: gemini.New(), list: "contents", around: []string{"systemInstruction", "system_instruction"},
	}.open(in, b)
}

func openResponses(in *lines, b beginning) (source, error) {
	return provider{
		dialect: openairesponses.New(), list: "input", around: []string{"instructions"}, joins: isModelItem,
	}.open(in, b)
}

// isModelItem says whether the model wrote an item of OpenAI Responses: those that stand together are one message.
func isModelItem(o rawjson.Object) bool {
	if o.Has("role") {
		return o.IsText("role", "assistant")
	}
	kind, err := o.Text("type")
	return err == nil && (kind == "reasoning" || isItemType(kind) && !isOutputType(kind))
}

// isOutputType says whether an item is what a tool of the client answered.
func isOutputType(kind string) bool { return strings.HasSuffix(kind, "_output") }
