package overflow

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// fullWindow are the stop reasons, in lower case, that mean that the window is full.
var fullWindow = []string{
	"model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded", "contextlengthreached",
}

// answered are the stop reasons, in lower case, that mean that a model answered.
var answered = map[string]compactordv1.StopReason{
	"stop":              compactordv1.StopReason_STOP_REASON_END,
	"end_turn":          compactordv1.StopReason_STOP_REASON_END,
	"stop_sequence":     compactordv1.StopReason_STOP_REASON_END,
	"completed":         compactordv1.StopReason_STOP_REASON_END,
	"length":            compactordv1.StopReason_STOP_REASON_LENGTH,
	"max_tokens":        compactordv1.StopReason_STOP_REASON_LENGTH,
	"max_output_tokens": compactordv1.StopReason_STOP_REASON_LENGTH,
	"tool_use":          compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"tool_calls":        compactordv1.StopReason_STOP_REASON_TOOL_USE,
}

// stopOf returns why the model stopped: the request's stop_reason, or otherwise the meaning of the provider's own stop
// reason. UNSPECIFIED where neither says it.
func stopOf(req *compactordv1.ClassifyErrorRequest) compactordv1.StopReason {
	if reason := req.GetStopReason(); reason != compactordv1.StopReason_STOP_REASON_UNSPECIFIED {
		return reason
	}
	return answered[strings.ToLower(req.GetProviderStopReason())]
}

func saysFullWindow(req *compactordv1.ClassifyErrorRequest) bool {
	return slices.Contains(fullWindow, strings.ToLower(req.GetProviderStopReason()))
}
