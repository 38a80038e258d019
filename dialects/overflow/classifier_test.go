package overflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	other           = compactordv1.ErrorClass_ERROR_CLASS_OTHER
	contextOverflow = compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW
	tooLarge        = compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE
	rateLimit       = compactordv1.ErrorClass_ERROR_CLASS_RATE_LIMIT
)

const (
	failed  = compactordv1.StopReason_STOP_REASON_ERROR
	ended   = compactordv1.StopReason_STOP_REASON_END
	atLimit = compactordv1.StopReason_STOP_REASON_LENGTH
	calling = compactordv1.StopReason_STOP_REASON_TOOL_USE
)

func classify(
	t testing.TB, req *compactordv1.ClassifyErrorRequest, window uint32,
) *compactordv1.ClassifyErrorResponse {
	t.Helper()
	c, err := overflow.New(overflow.Extra{})
	require.NoError(t, err)
	return c.Classify(req, window)
}

// said classifies a text that a provider sent with a status. 0 means that the status is unknown.
func said(t testing.TB, status uint32, text string) *compactordv1.ClassifyErrorResponse {
	t.Helper()
	return classify(t, &compactordv1.ClassifyErrorRequest{ErrorText: text, HttpStatus: status, StopReason: failed}, 0)
}

func used(input, cacheRead, cacheWrite, output uint32) *compactordv1.Usage {
	return &compactordv1.Usage{
		InputTokens: input, CacheReadTokens: cacheRead, CacheWriteTokens: cacheWrite, OutputTokens: output,
	}
}

func TestCase149SilentOverflow(t *testing.T) {
	for _, test := range []struct {
		usage *compactordv1.Usage
		rule  string
	}{
		{used(600, 400, 0, 5), ""},
		{used(601, 400, 0, 5), overflow.UsageOverWindow},
		{used(600, 401, 0, 5), overflow.UsageOverWindow},
		{used(600, 400, 1000, 1000), ""},
		{used(1<<31, 1<<31, 0, 0), overflow.UsageOverWindow},
	} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: ended, Usage: test.usage}, 1000)
		require.Equal(t, test.rule, answer.GetRule(), test.usage)
		require.Equal(t, test.rule != "", answer.GetOverflow())
	}
}

func TestCase150OnlyWhereItEndedByItself(t *testing.T) {
	for _, stop := range []compactordv1.StopReason{
		atLimit, calling, failed, compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
		compactordv1.StopReason_STOP_REASON_ABORTED,
	} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: stop, Usage: used(1001, 0, 0, 5)}, 1000)
		require.Equal(t, other, answer.GetErrorClass(), stop)
	}
}

func TestCase151WindowUnknown(t *testing.T) {
	for _, stop := range []compactordv1.StopReason{ended, atLimit} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: stop, Usage: used(1<<31, 0, 0, 0)}, 0)
		require.Equal(t, other, answer.GetErrorClass())
	}
	require.Equal(t, contextOverflow, said(t, 400, "prompt is too long").GetErrorClass())
}

func TestCase152LengthWithoutOutput(t *testing.T) {
	for _, test := range []struct {
		usage *compactordv1.Usage
		rule  string
	}{
		{used(500, 490, 0, 0), overflow.UsageNoOutput},
		{used(500, 489, 0, 0), ""},
		{used(500, 490, 0, 1), ""},
		{used(2000, 0, 0, 0), overflow.UsageNoOutput},
	} {
		req := &compactordv1.ClassifyErrorRequest{StopReason: atLimit, Usage: test.usage}
		require.Equal(t, test.rule, classify(t, req, 1000).GetRule(), test.usage)
	}
}

// Wordings about bytes are distinguished from those about tokens, which say more.
func TestTooLargeInBytes(t *testing.T) {
	for text, rule := range map[string]string{
		`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`: "request-too-large",
		"Request too large": "request-too-large",
		"<html><title>413 Request Entity Too Large</title></html>": "payload-too-large",
		`{"error":{"code":413,"message":"no"}}`:                    "payload-too-large",
		"exceeds the maximum request size":                         "maximum-size",
		"grpc: received message larger than max (5 vs. 4)":         "maximum-size",
		"Invalid 'input': string too long. Expected less":          "string-too-long",
	} {
		answer := said(t, 0, text)
		require.Equal(t, tooLarge, answer.GetErrorClass(), text)
		require.Equal(t, rule, answer.GetRule(), text)
		require.True(t, answer.GetOverflow())
	}
	require.Equal(t, overflow.Status413, said(t, 413, "").GetRule(), "the status says all")
	require.Equal(t, tooLarge, said(t, 413, "").GetErrorClass())
	require.Equal(t, contextOverflow, said(t, 413, "prompt is too long").GetErrorClass())
	require.Equal(t, rateLimit, said(t, 413, "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000").GetErrorClass())
}
