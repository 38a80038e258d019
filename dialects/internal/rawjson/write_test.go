package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func TestEqualComparesWhatIsSaid(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ] , "a" : 1 } `, true},
		{`1.0`, `1`, false},
		{`1e2`, `100`, false},
		{`"\u00e9\n\/"`, "\"é\\u000A/\"", true},
		{`"\ud83d\ude00"`, `"😀"`, true},
		{`"\ud83d"`, `"\ufffd"`, false},
		{`"\ud83d"`, `"\uD83D"`, true},
		{`{"a":null}`, `{}`, false},
		{`{"a":null}`, `{"b":null}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`null`, `false`, false},
		{`"1"`, `1`, false},
	} {
		require.Equal(t, c.equal, rawjson.Equal(json.RawMessage(c.a), json.RawMessage(c.b)), "%s and %s", c.a, c.b)
		require.Equal(t, c.equal, rawjson.Equal(json.RawMessage(c.b), json.RawMessage(c.a)), "%s and %s", c.b, c.a)
	}
}

func TestKeepsTellsLoneSurrogates(t *testing.T) {
	for raw, keeps := range map[string]bool{
		`"plain"`:                  true,
		`"\u00e9\\ud83d"`:          true,
		`"\ud83d\ude00"`:           true,
		`"\ud83d"`:                 false,
		`"\ude00\ud83d"`:           false,
		`{"a":["x\ud83d and on"]}`: false,
		`"\ud83d\ud83d\ude00"`:     false,
	} {
		require.Equal(t, keeps, rawjson.Keeps(json.RawMessage(raw)), raw)
	}
}

func TestEncodePutsWhatPeopleLookForFirst(t *testing.T) {
	o, err := rawjson.ParseObject([]byte(`{"z":1.50,"content":"<b>","role":"user","type":"message"}`))
	require.NoError(t, err)
	require.Equal(t, `{"type":"message","role":"user","content":"<b>","z":1.50}`, string(o.Encode()))
	require.Equal(t, `"<b>&\u2028"`, string(rawjson.Quote("<b>&\u2028")))
}
