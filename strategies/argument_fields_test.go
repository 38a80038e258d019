package strategies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/strategies"
)

// requireFields requires that the fields of a text are those that the JSON package reads.
func requireFields(t require.TestingT, text string) {
	var want map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &want) != nil {
		want = nil
	}
	got := strategies.Fields(text)
	require.Len(t, got, len(want), text)
	for name, value := range want {
		require.Equal(t, string(value), got[name], text)
		var text string
		_ = json.Unmarshal(value, &text)
		require.Equal(t, text, strategies.StringValue(got[name]), text)
	}
}

func TestFields(t *testing.T) {
	for _, text := range []string{
		``, ` `, `null`, `7`, `[]`, `{}`, ` { } `, `{`, `{"a"`, `{"a":1,}`, `{"a":1}x`, "\u00a0{}",
		`{"a":1,"b":"x","c":[1,{"d":"}"}],"e":{"f":"]"},"g":null,"h":-1.5e3}`,
		` { "a" : 1 , "b" : [ ] , "c" : { } } `, `{"a":1,"a":2}`, `{"":""}`,
		`{"a":"\"","b":"\\","c":"\\\"","\u0061b":"\ud83d\ude00","d":"\ud83d"}`, "{\"a\":\"\xff\",\"\xff\":1}",
	} {
		requireFields(t, text)
	}
}

// The fields of any object are those that the JSON package reads, also where a byte of it is wrong.
func TestFieldsOfAnyObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := object(t, 3)
		requireFields(t, text)
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		other := rapid.SampledFrom([]string{"", `"`, `\`, `{`, `}`, `]`, `,`, `:`, ` `, `1`, "\xff"}).Draw(t, "other")
		requireFields(t, text[:at]+other+text[at+1:])
	})
}

func object(t *rapid.T, depth int) string {
	var fields []string
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		fields = append(fields, space(t)+quoted(t)+space(t)+":"+space(t)+value(t, depth-1)+space(t))
	}
	return space(t) + "{" + strings.Join(fields, ",") + space(t) + "}" + space(t)
}

func value(t *rapid.T, depth int) string {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		return object(t, depth)
	case kind == 1 && depth > 0:
		return fmt.Sprintf("[%s,%s]", value(t, depth-1), value(t, depth-1))
	case kind == 2:
		return rapid.SampledFrom([]string{"true", "false", "null", "0", "-1.5E+7"}).Draw(t, "scalar")
	default:
		return quoted(t)
	}
}

func space(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space")
}

func quoted(t *rapid.T) string {
	pieces := []string{"a", "b", `\"`, `\\`, `\u00e9`, `\ud800`, "é", "{", "}", "[", "]", ",", ":", " "}
	return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, "text"), "") + `"`
}
