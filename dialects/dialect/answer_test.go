package dialect_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestTokensAreReadFromWhatServersWrite(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]uint32{
		`7`: 7, `7.0`: 7, `7e1`: 70, `"7"`: 7, `-7`: 0, `1e30`: math.MaxUint32, `null`: 0, `true`: 0, `"NaN"`: 0, `[7]`: 0, `{"a":7}`: 0,
	} {
		var got struct{ A, B dialect.Tokens }
		require.NoError(t, json.Unmarshal([]byte(`{"a":`+raw+`,"b":3}`), &got), raw)
		require.Equal(t, want, got.A.Count(), raw)
		require.EqualValues(t, 3, got.B.Count(), "what stands behind %s", raw)
	}
	require.EqualValues(t, 0, (dialect.Tokens(3) - dialect.Tokens(5)).Count())
}

func TestContentIsReadFromWhatServersWrite(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"Hi"`: "Hi", `""`: "", `null`: "", `7`: "", `{}`: "", `[{"type":"text","text":"Hi"}]`: "Hi", `[null,7,{"text":"Hi"}]`: "Hi",
	} {
		var got struct{ A, B dialect.Content }
		require.NoError(t, json.Unmarshal([]byte(`{"a":`+raw+`,"b":"x"}`), &got), raw)
		text := ""
		for _, part := range got.A {
			text += part.Text
		}
		require.Equal(t, want, text, raw)
		require.Equal(t, "x", got.B[0].Text, "what stands behind %s", raw)
	}
}

func TestAnswersEnd(t *testing.T) {
	t.Parallel()
	for reason, want := range map[compactordv1.StopReason]dialect.Answer{
		compactordv1.StopReason_STOP_REASON_UNSPECIFIED: {Complete: true},
		compactordv1.StopReason_STOP_REASON_END:         {Complete: true},
		compactordv1.StopReason_STOP_REASON_LENGTH:      {Complete: true, CutOff: true},
		compactordv1.StopReason_STOP_REASON_TOOL_USE:    {Complete: true, ToolCall: true},
		compactordv1.StopReason_STOP_REASON_PAUSE:       {Complete: true, ToolCall: true},
		compactordv1.StopReason_STOP_REASON_REFUSAL:     {Complete: true, Refused: true},
		compactordv1.StopReason_STOP_REASON_ERROR:       {Failed: true},
		compactordv1.StopReason_STOP_REASON_ABORTED:     {Failed: true},
	} {
		var got dialect.Answer
		got.End(reason, "word")
		want.Stop = "word"
		require.Equal(t, want, got, reason)
	}
}
