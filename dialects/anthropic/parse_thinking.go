package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func parseThinking(o rawjson.Object, typ string) (*compactordv1.Part, error) {
	think := &compactordv1.ThinkingPart{Redacted: typ == typeRedactedThinking}
	if !think.GetRedacted() {
		var err error
		if think.Text, err = o.BoundedText("thinking", dialect.MaxText); err != nil {
			return nil, err
		}
	}
	return completed(&compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: think}}, o)
}
