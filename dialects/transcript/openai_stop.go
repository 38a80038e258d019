package transcript

import (
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// openAIStopReason returns why the model stopped, where the transcript has a known word for it.
func openAIStopReason(o rawjson.Object) compactordv1.StopReason {
	for _, field := range []string{"stop_reason", "finish_reason"} {
		if word, err := o.Text(field); err == nil {
			if reason, ok := stopReasons[strings.ToLower(word)]; ok {
				return reason
			}
		}
	}
	return compactordv1.StopReason_STOP_REASON_UNSPECIFIED
}

// stopReasons holds the words of the providers, and of transcripts of their answers.
var stopReasons = map[string]compactordv1.StopReason{
	"stop":           compactordv1.StopReason_STOP_REASON_END,
	"end":            compactordv1.StopReason_STOP_REASON_END,
	"end_turn":       compactordv1.StopReason_STOP_REASON_END,
	"tool_calls":     compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"tool_use":       compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"length":         compactordv1.StopReason_STOP_REASON_LENGTH,
	"max_tokens":     compactordv1.StopReason_STOP_REASON_LENGTH,
	"stop_sequence":  compactordv1.StopReason_STOP_REASON_STOP_SEQUENCE,
	"content_filter": compactordv1.StopReason_STOP_REASON_REFUSAL,
	"refusal":        compactordv1.StopReason_STOP_REASON_REFUSAL,
	"error":          compactordv1.StopReason_STOP_REASON_ERROR,
	"aborted":        compactordv1.StopReason_STOP_REASON_ABORTED,
	"pause_turn":     compactordv1.StopReason_STOP_REASON_PAUSE,
}
