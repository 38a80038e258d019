package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

type answer struct {
	Role  string `json:"role"`
	Items []struct {
		FinishReason string `json:"finishReason"`
	} `json:"items"`
}

func TestUnmarshalTellsUpperFromLowerCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, role, reason string }{
		{`{"role":"assistant","Role":""}`, "assistant", ""},
		{`{"Role":"user"}`, "", ""},
		{`{"R\u006fle":"user","\u0072ole":"assistant"}`, "assistant", ""},
		{`{"items":[{"finishReason":"stop","FinishReason":"x","finishreason":"y","finiſhReason":"z"}],"role":"Role"}`, "Role", "stop"},
		{`{"other":{"Role":{"ROLE":1}},"role":"a \"Role\" b"}`, `a "Role" b`, ""},
	} {
		var got answer
		require.NoError(t, rawjson.Unmarshal(json.RawMessage(c.raw), &got), c.raw)
		require.Equal(t, c.role, got.Role, c.raw)
		if c.reason != "" {
			require.Equal(t, c.reason, got.Items[0].FinishReason, c.raw)
		}
	}
	var got answer
	for _, broken := range []string{"", `{"Role`, `{"Role":`, `{"role":1}`, `"`, `"\`} {
		require.Equal(t, json.Unmarshal([]byte(broken), &answer{}) == nil, rawjson.Unmarshal(json.RawMessage(broken), &got) == nil, broken)
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"role":"a","Role":"b","items":[{"FinishReason":"c"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got answer
		o, err := rawjson.ParseObject(raw)
		if err != nil || rawjson.Unmarshal(raw, &got) != nil || !o.Has("role") {
			return
		}
		require.Equal(t, o.TextOrEmpty("role"), got.Role)
	})
}
