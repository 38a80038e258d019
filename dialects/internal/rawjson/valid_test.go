package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// Texts of pieces of JSON, many of them nearly valid, are valid for both or for none.
func TestValidIsTheParsersValid(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"{", "}", "[", "]", ",", ":", `"`, `"a"`, `"a":`, `"\u00e9"`, `\`, `\u`, `\"`, "00", "0", "12", "-", "-0", ".", ".5", "e", "E+", "e-1",
		"true", "tru", "false", "null", " ", "\n", "\t", "\r", "\x00", "\x1f", "é", "\xff", "{}", "[]", `{"k":`, "[1,",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "")
		require.Equal(t, json.Valid([]byte(text)), rawjson.Valid([]byte(text)), "%q", text)
	})
}

func TestValidNestsAsDeepAsTheParser(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{9_999, 10_000, 10_001} {
		for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
			text := []byte(strings.Repeat(pair[0], depth) + "1" + strings.Repeat(pair[1], depth))
			require.Equal(t, json.Valid(text), rawjson.Valid(text), "%d levels", depth)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,true,null,"\u00e9\n"]}`, `[`, `"\ud83d"`, "01", " 1 "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		require.Equal(t, json.Valid(raw), rawjson.Valid(raw))
	})
}
