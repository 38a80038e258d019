package overflow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// FuzzClassify requires that the answer to any error is complete and always the same. With status 401, 403, 404 or 429
// it is never an overflow.
func FuzzClassify(f *testing.F) {
	c, err := overflow.New(overflow.Extra{})
	require.NoError(f, err)
	f.Add("prompt is too long: 210,000 tokens > 200000 maximum", uint32(400), int32(6), "", uint32(1), uint32(2), uint32(0), uint32(9))
	f.Add("429 too many tokens", uint32(429), int32(0), "model_context_window_exceeded", uint32(0), uint32(0), uint32(0), uint32(0))
	f.Add("\xff\\u003e \\\\\" code\":413", uint32(0), int32(1), "", uint32(1<<31), uint32(1<<31), uint32(1), uint32(1<<31))
	f.Add("(404) exceeds the token limit", uint32(404), int32(0), "STOP", uint32(2), uint32(2), uint32(0), uint32(3))
	f.Fuzz(func(t *testing.T, text string, status uint32, stop int32, stopped string, input, cached, output, window uint32) {
		req := &compactordv1.ClassifyErrorRequest{
			ErrorText: text, HttpStatus: status, StopReason: compactordv1.StopReason(stop), ProviderStopReason: stopped,
			Usage: &compactordv1.Usage{InputTokens: input, CacheReadTokens: cached, OutputTokens: output},
		}
		answer := c.Classify(req, window)
		require.True(t, proto.Equal(answer, c.Classify(req, window)))
		require.NotEqual(t, compactordv1.ErrorClass_ERROR_CLASS_UNSPECIFIED, answer.GetErrorClass())
		require.Equal(t, answer.GetErrorClass() == contextOverflow || answer.GetErrorClass() == tooLarge, answer.GetOverflow())
		require.NotEmpty(t, answer.GetWhy())
		require.False(t, answer.GetErrorClass() != other && answer.GetRule() == "")
		require.False(t, slices.Contains([]uint32{401, 403, 404, 429}, status) && answer.GetOverflow())
	})
}

// BenchmarkClassify classifies a megabyte of text in which many expressions nearly match.
func BenchmarkClassify(b *testing.B) {
	c, err := overflow.New(overflow.Extra{})
	require.NoError(b, err)
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "exceed max_tokens requested 1 "[i%30]
	}
	req := &compactordv1.ClassifyErrorRequest{ErrorText: string(text), HttpStatus: 400}
	for b.Loop() {
		c.Classify(req, 0)
	}
}
