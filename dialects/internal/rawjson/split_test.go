package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func TestSplitReadsAsTheParserDoes(t *testing.T) {
	for _, raw := range []string{
		`{}`, `{ }`, `{"a":1}`, `{ "a" : 1.50 , "b":"x\\\"y,}]", "c" : [ {"d":[]} , "]" ] , "" : null}`,
		`{"a":1,"a":{"b":"\\"}}`, `{"l\u00e4uft":"\ud83d","{":true}`, "{\n\t\"a\"\r:\n{ \"b\" : false }\n}",
	} {
		want, err := rawjson.ParseObject([]byte(raw))
		require.NoError(t, err)
		have, err := rawjson.SplitObject(json.RawMessage(raw))
		require.NoError(t, err)
		require.Equal(t, want, have, raw)
	}
	for _, raw := range []string{`[]`, `[ ]`, `[1,"2",[3,[4]],{"5":6}, null ,true]`, "[\n-1e5\t,\"\\\\\"]"} {
		want, err := rawjson.ParseArray(json.RawMessage(raw))
		require.NoError(t, err)
		have, err := rawjson.SplitArray(json.RawMessage(raw))
		require.NoError(t, err)
		require.Equal(t, want, have, raw)
	}
}

func TestSplitSaysWhatItIsInstead(t *testing.T) {
	_, err := rawjson.SplitObject(json.RawMessage(`[1]`))
	require.EqualError(t, err, "must be an object, is an array")
	_, err = rawjson.SplitObject(nil)
	require.ErrorIs(t, err, rawjson.ErrMissing)
	_, err = rawjson.SplitArray(json.RawMessage(`"x"`))
	require.EqualError(t, err, "must be an array, is a string")
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\""}],"c":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		have, err := rawjson.SplitObject(raw)
		if !json.Valid(raw) || len(raw) == 0 || raw[0] != '{' {
			return
		}
		require.NoError(t, err)
		want, err := rawjson.ParseObject(raw)
		require.NoError(t, err)
		require.Equal(t, want, have)
	})
}
