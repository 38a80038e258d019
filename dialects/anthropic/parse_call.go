package anthropic

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseCall keeps the input unchanged. A call without input has empty arguments.
func parseCall(o rawjson.Object) (*compactordv1.Part, error) {
	call := &compactordv1.ToolCall{}
	var err error
	if call.Id, err = o.BoundedText("id", dialect.MaxID); err != nil {
		return nil, err
	}
	if call.Name, err = o.BoundedText("name", dialect.MaxName); err != nil {
		return nil, err
	}
	if call.GetName() == "" {
		return nil, rawjson.In("name", rawjson.ErrMissing)
	}
	if o.Has("input") {
		call.Arguments = string(o["input"])
	}
	if len(call.GetArguments()) > dialect.MaxText {
		return nil, rawjson.In("input", rawjson.TooLarge(len(call.GetArguments()), dialect.MaxText))
	}
	return completed(&compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}}, o)
}

func isArguments(arguments string) bool {
	return arguments == "" || rawjson.KindOf(json.RawMessage(arguments)) == rawjson.ObjectKind
}
