package wording_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session/wording"
)

func TestOneLine(t *testing.T) {
	require.Equal(t, "a b c", wording.OneLine("  a\r\n\tb\u2028 c \n", 10))
	require.Equal(t, "ab…", wording.OneLine("a\x1bb\x07c", 2))
	require.Equal(t, "a…", wording.OneLine("a b", 2), "no blank at the end")
	require.Empty(t, wording.OneLine(" \n", 3))
}

func TestBlank(t *testing.T) {
	for _, text := range []string{"", " \n\t", "\u00a0", "\u2003\u3000", "\u200b", "\ufeff", "\x00\x1b", "\u200d \u2060\u00ad"} {
		require.True(t, wording.Blank(text), "%q", text)
	}
	for _, text := range []string{"a", "\u200ba", "\ufeff.", "\u00e9", "\U0001f44d"} {
		require.False(t, wording.Blank(text), "%q", text)
	}
}
