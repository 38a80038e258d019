package extractive_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/extractive"
)

func TestJSONStringsAreDecoded(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\"\\\n\t\r/\b<é日\u2028"))))
	rapid.Check(t, func(rt *rapid.T) {
		want := text.Draw(rt, "text")
		quoted, err := json.Marshal(want)
		require.NoError(rt, err)
		got, ok := extractive.Unquote(string(quoted))
		require.True(rt, ok, "%s", quoted)
		require.Equal(rt, want, got, "%s", quoted)
	})
}

func TestBrokenJSONStringsAreNotDecoded(t *testing.T) {
	t.Parallel()
	for _, quoted := range []string{`"a\"`, `"a\n`, `a\n"`, `"a"b\n"`, `"a\q"`, "\"a\\t\nb\""} {
		text, ok := extractive.Unquote(quoted)
		require.False(t, ok, "%s is %q", quoted, text)
	}
}
