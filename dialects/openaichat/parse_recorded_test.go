package openaichat_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/openaichat"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestWhatTranscriptsAddIsRead(t *testing.T) {
	t.Parallel()
	m, _, err := openaichat.ParseMessage([]byte(`{"role":"assistant","content":"hi","model":"m","stop_reason":"end_turn",
		"usage":{"input_tokens":1e3,"output_tokens":2.0,"cache_read_tokens":3,"cache_write_tokens":4,"total_tokens":1009},
		"timestamp":"2026-01-02T03:04:05+01:00"}`))
	require.NoError(t, err)
	require.Equal(t, "m", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_END, m.GetStopReason())
	require.True(t, proto.Equal(&compactordv1.Usage{
		InputTokens: 1000, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, TotalTokens: 1009,
	}, m.GetUsage()), m.GetUsage())
	require.Equal(t, time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), m.GetWrittenAt().AsTime())
	for stamp, want := range map[string]time.Time{
		"1767225600": time.Unix(1767225600, 0), "1767225600500": time.UnixMilli(1767225600500), "0": {}, `"yesterday"`: {}, "-5": {}, "1e300": {},
	} {
		m, _, err := openaichat.ParseMessage([]byte(`{"role":"user","content":"hi","timestamp":` + stamp + `}`))
		require.NoError(t, err)
		if want.IsZero() {
			require.Nil(t, m.GetWrittenAt(), stamp)
		} else {
			require.Equal(t, want.UTC(), m.GetWrittenAt().AsTime(), stamp)
		}
	}
}
