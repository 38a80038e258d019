package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

func (d *daemon) classify(req *compactordv1.ClassifyErrorRequest) *compactordv1.ClassifyErrorResponse {
	d.t.Helper()
	answer, err := d.compactions.ClassifyError(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

func TestClassifyError(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) {
		o.Overflow.Patterns = append(o.Overflow.Patterns, overflow.Pattern{ID: "ours", Expression: "over the brim"})
	})
	answer := d.classify(&compactordv1.ClassifyErrorRequest{
		ErrorText: "prompt is too long: 210000 tokens > 200000 maximum", HttpStatus: 400,
	})
	require.Equal(t, compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW, answer.GetErrorClass())
	require.Equal(t, []uint32{210_000, 200_000}, []uint32{answer.GetRequestedTokens(), answer.GetLimitTokens()})
	require.Equal(t, "ours", d.classify(&compactordv1.ClassifyErrorRequest{ErrorText: "Over the brim"}).GetRule())
	require.Equal(t, compactordv1.ErrorClass_ERROR_CLASS_OTHER,
		d.classify(&compactordv1.ClassifyErrorRequest{}).GetErrorClass())
	_, err := d.compactions.ClassifyError(t.Context(), &compactordv1.ClassifyErrorRequest{
		ErrorText: strings.Repeat("x", 1<<20+1),
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// The context window is the request's, else that of the session's policy.
func TestClassifyErrorBySession(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.create("unknown", nil)
	silent := func(id string, window uint32) *compactordv1.ClassifyErrorRequest {
		return &compactordv1.ClassifyErrorRequest{
			SessionId: id, ContextWindow: window, StopReason: compactordv1.StopReason_STOP_REASON_END,
			Usage: &compactordv1.Usage{InputTokens: 20_001},
		}
	}
	require.True(t, d.classify(silent("s", 0)).GetOverflow())
	require.False(t, d.classify(silent("s", 20_001)).GetOverflow(), "the request's window wins")
	require.True(t, d.classify(silent("", 20_000)).GetOverflow())
	require.False(t, d.classify(silent("unknown", 0)).GetOverflow())
	require.False(t, d.classify(silent("", 0)).GetOverflow())
	_, err := d.compactions.ClassifyError(t.Context(), silent("nobody", 5))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}
