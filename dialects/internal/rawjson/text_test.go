package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func TestTextIsWhatTheParserReads(t *testing.T) {
	for _, raw := range []string{
		`""`, `"plain"`, `"läuft 修复 🙂"`, `"a\nb\tc\r\b\f\/\"\\"`, `"\\"`, `"\\n"`, `"ends \n"`, `"\u00e9\n"`, `"\ud83d\ude00"`,
		`"half \ud83d"`, "\"raw \xff\"", `"\n\u0041\\u0041"`,
	} {
		var want string
		require.NoError(t, json.Unmarshal([]byte(raw), &want))
		have, err := rawjson.Object{"x": json.RawMessage(raw)}.DemandText("x")
		require.NoError(t, err)
		require.Equal(t, want, have, raw)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(`"a\nb\u0041"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if rawjson.KindOf(raw) != rawjson.String || json.Unmarshal(raw, &want) != nil || raw[len(raw)-1] != '"' {
			return
		}
		have, err := rawjson.Object{"x": raw}.DemandText("x")
		require.NoError(t, err)
		require.Equal(t, want, have)
	})
}
