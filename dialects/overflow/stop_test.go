package overflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestCase165ProviderStopReason(t *testing.T) {
	for _, reason := range []string{"model_context_window_exceeded", "MODEL_CONTEXT_WINDOW_EXCEEDED", "contextLengthReached"} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: ended, ProviderStopReason: reason}, 0)
		require.Equal(t, contextOverflow, answer.GetErrorClass(), reason)
		require.Equal(t, overflow.ProviderStopped, answer.GetRule())
	}
	for _, reason := range []string{"", "stop", "length", "max_tokens", "not model_context_window_exceeded"} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: ended, ProviderStopReason: reason}, 0)
		require.Equal(t, other, answer.GetErrorClass(), reason)
	}
}

// Where stop_reason is not set, the provider's own stop reason says how the answer ended.
func TestProviderStopReasonStandsIn(t *testing.T) {
	const unset = compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	for _, test := range []struct {
		stop     compactordv1.StopReason
		provider string
		usage    *compactordv1.Usage
		rule     string
	}{
		{unset, "stop", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "STOP", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "end_turn", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "completed", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "stop", used(1000, 0, 0, 5), ""},
		{unset, "length", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "max_tokens", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "MAX_TOKENS", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "max_output_tokens", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "length", used(989, 0, 0, 0), ""},
		{unset, "length", used(2000, 0, 0, 5), ""},
		{unset, "tool_use", used(2000, 0, 0, 5), ""},
		{unset, "stopped", used(2000, 0, 0, 0), ""},
		{unset, "", used(2000, 0, 0, 0), ""},
		{failed, "stop", used(2000, 0, 0, 0), ""},
		{atLimit, "stop", used(2000, 0, 0, 5), ""},
		{calling, "stop", used(2000, 0, 0, 5), ""},
	} {
		req := &compactordv1.ClassifyErrorRequest{StopReason: test.stop, ProviderStopReason: test.provider, Usage: test.usage}
		require.Equal(t, test.rule, classify(t, req, 1000).GetRule(), req)
	}
	for _, provider := range []string{"stop", "END_TURN", "completed", "length", "max_tokens", "tool_calls"} {
		req := &compactordv1.ClassifyErrorRequest{ErrorText: "prompt is too long: 2 tokens > 1 maximum", ProviderStopReason: provider}
		answer := classify(t, req, 0)
		require.Equal(t, other, answer.GetErrorClass(), "a model may write this and end with %s", provider)
		require.Nil(t, answer.RequestedTokens)
		req.HttpStatus = 400
		require.True(t, classify(t, req, 0).GetOverflow(), "a status says that it is an error")
		req.HttpStatus, req.StopReason = 0, failed
		require.True(t, classify(t, req, 0).GetOverflow(), "stop_reason wins")
	}
	req := &compactordv1.ClassifyErrorRequest{ErrorText: "prompt is too long", ProviderStopReason: "error"}
	require.True(t, classify(t, req, 0).GetOverflow(), "an unknown reason says nothing")
}
