package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// stopReasons are the provider's words for them. Other words have no stop reason.
var stopReasons = map[string]compactordv1.StopReason{
	"end_turn":                      compactordv1.StopReason_STOP_REASON_END,
	"max_tokens":                    compactordv1.StopReason_STOP_REASON_LENGTH,
	"stop_sequence":                 compactordv1.StopReason_STOP_REASON_STOP_SEQUENCE,
	"tool_use":                      compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"pause_turn":                    compactordv1.StopReason_STOP_REASON_PAUSE,
	"refusal":                       compactordv1.StopReason_STOP_REASON_REFUSAL,
	"model_context_window_exceeded": compactordv1.StopReason_STOP_REASON_LENGTH,
}

// fillFromResponse sets the fields of a message that come from the response.
func (p *parser) fillFromResponse(m *compactordv1.Message, o rawjson.Object) error {
	var err error
	if m.Model, err = o.BoundedText("model", dialect.MaxName); err != nil {
		return err
	}
	stop, err := o.Text("stop_reason")
	if err != nil {
		return err
	}
	m.StopReason, p.parsed.ProviderStop = stopReasons[stop], stop
	m.Usage, err = parseUsage(o)
	return err
}

func parseUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	fields, err := o.Sub("usage")
	if fields == nil || err != nil {
		return nil, err
	}
	usage := &compactordv1.Usage{}
	for _, field := range []struct {
		key   string
		count *uint32
	}{
		{"input_tokens", &usage.InputTokens},
		{"output_tokens", &usage.OutputTokens},
		{"cache_read_input_tokens", &usage.CacheReadTokens},
		{"cache_creation_input_tokens", &usage.CacheWriteTokens},
	} {
		if *field.count, err = fields.Count(field.key); err != nil {
			return nil, rawjson.In("usage", err)
		}
	}
	return usage, nil
}
