package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func TestSet(t *testing.T) {
	for _, c := range [][3]string{
		{`{}`, `1`, `{"k":1}`},
		{` { } `, `1`, ` {"k":1}`},
		{`{"a":1}`, `[2]`, `{"a":1,"k":[2]}`},
		{`{ "k" : "old" , "a":{"k":1} }`, `"new"`, `{ "k" : "new" , "a":{"k":1} }`},
		{`{"a":{"k":1},"k":null}`, `3`, `{"a":{"k":1},"k":3}`},
		{`{"k":1,"k":2}`, `3`, `{"k":1,"k":3}`},
	} {
		got, err := rawjson.Set(json.RawMessage(c[0]), "k", json.RawMessage(c[1]))
		require.NoError(t, err)
		require.Equal(t, c[2], string(got))
		fields, err := rawjson.ParseObject(got)
		require.NoError(t, err)
		require.Equal(t, c[1], string(fields["k"]))
	}
	for _, bad := range []string{``, `[]`, `1`, `{"k":}`, `{"k":1`, `{"k":1}{}`, `{"k":1} x`} {
		_, err := rawjson.Set(json.RawMessage(bad), "k", json.RawMessage("1"))
		require.Error(t, err, bad)
	}
}

func TestArrays(t *testing.T) {
	one := json.RawMessage(`{"a":1}`)
	for array, want := range map[string]string{
		`[]`: `[{"a":1}]`, `[ ] `: `[{"a":1}]`, `[ 2 ] `: `[ 2 ,{"a":1}]`, `["]"]`: `["]",{"a":1}]`,
	} {
		got, err := rawjson.Append(json.RawMessage(array), one)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	for array, want := range map[string]string{`[2]`: `[{"a":1}]`, `[2, 2 ]`: `[2, {"a":1} ]`, `[22,2]`: `[22,{"a":1}]`} {
		got, err := rawjson.SetLast(json.RawMessage(array), one)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	for _, bad := range []string{``, `{}`, `[1`, `1`} {
		_, err := rawjson.Append(json.RawMessage(bad), one)
		require.Error(t, err, bad)
		_, err = rawjson.SetLast(json.RawMessage(bad), one)
		require.Error(t, err, bad)
	}
	_, err := rawjson.SetLast(json.RawMessage(`[]`), one)
	require.ErrorIs(t, err, rawjson.ErrEmpty)
}
