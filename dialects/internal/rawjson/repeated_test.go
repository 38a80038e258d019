package rawjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func TestRepeatsKey(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false, `[]`: false, `"a"`: false, `1`: false,
		`{"a":1,"b":2}`:                    false,
		`{"a":1,"a":2}`:                    true,
		`{"a":1 , "b":[{"x":1,"x" :2}]}`:   true,
		`{"a":{"b":1},"b":{"a":1}}`:        false,
		`[{"a":1},{"a":2}]`:                false,
		`{"a":"a","b":"a"}`:                false,
		`{"a":1,"\u0061":2}`:               true,
		`{"a\\":1,"a":"\":{\"a\""}`:        false,
		`{"A":1,"a":2}`:                    false,
		`{"a":{"c":1,"d":{}},"b":2,"a":3}`: true,
	} {
		require.Equal(t, want, rawjson.RepeatsKey(json.RawMessage(text)), text)
	}
}

// Objects that an encoder wrote have no key twice, and get one by one more field.
func TestRepeatsKeyOfAnyObject(t *testing.T) {
	key := rapid.SampledFrom([]string{"a", "b", `"`, `\`, ":", "{", "", "é", "a b"})
	rapid.Check(t, func(t *rapid.T) {
		var value func(levels int) any
		value = func(levels int) any {
			if levels == 0 || rapid.Bool().Draw(t, "leaf") {
				return key.Draw(t, "text")
			}
			inner := map[string]any{}
			for range rapid.IntRange(0, 9).Draw(t, "fields") {
				inner[key.Draw(t, "key")] = value(levels - 1)
			}
			return []any{inner, value(levels - 1)}
		}
		text, err := json.Marshal(value(4))
		require.NoError(t, err)
		require.False(t, rawjson.RepeatsKey(text))
		name, err := json.Marshal(key.Draw(t, "repeated"))
		require.NoError(t, err)
		require.True(t, rawjson.RepeatsKey([]byte(fmt.Sprintf(`{%s:%s,"other":[%s],%s:0}`, name, text, text, name))))
	})
}

// The time grows with the JSON and not faster: so many keys of one object, open at once, are sorted once.
func TestRepeatsKeyAmongVeryMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"first":0`)
	for i := range 200_000 {
		fmt.Fprintf(&b, `,"key%d":%d`, i, i)
	}
	require.False(t, rawjson.RepeatsKey([]byte(b.String()+"}")))
	require.True(t, rawjson.RepeatsKey([]byte(b.String()+`,"key77":1}`)))
}
