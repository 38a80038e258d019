package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A new attempt replaces the text on the terminal, and says so. Control characters of the model are removed.
func TestTextOfASecondAttempt(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out, true)
	p.Delta(1, "not shown")
	require.Empty(t, out.String())
	p.ShowsText()
	p.Stage("summarizing 9 tokens", "tokens", 9)
	out.Reset()
	p.Delta(1, "first ")
	p.Update(5)
	p.Delta(1, "\x1b[2Jtry")
	p.Delta(2, "second try\n")
	require.Equal(t, "\r\x1b[Kfirst \n\r\x1b[K"+strings.Repeat("█", 16)+strings.Repeat("░", 14)+"  55 %  summarizing 9 tokens\r\x1b[K\uFFFD[2Jtry\n\n[attempt 2 replaces the text above]\n\nsecond try\n", out.String())
	require.True(t, p.Shown("second try\n"))
	require.False(t, p.Shown("first try"))
	p.CloseText()
	require.True(t, strings.HasSuffix(out.String(), "second try\n"))
	var nobody *Progress
	nobody.ShowsText()
	nobody.Delta(1, "x")
	nobody.CloseText()
	require.False(t, nobody.Shown("x"))
}
