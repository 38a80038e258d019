package summarizers_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// spoken passes a text to a Spoken in pieces, and returns the result.
func spoken(pieces ...string) string {
	var said strings.Builder
	s := summarizers.NewSpoken(func(delta string) { said.WriteString(delta) })
	for _, piece := range pieces {
		s.Add(piece)
	}
	s.End()
	return said.String()
}

// However a text is split into pieces, the streamed text is the stored one.
func TestSpokenIsTheTextWithoutThinking(t *testing.T) {
	t.Parallel()
	tokens := []string{
		"<think>", "</think>", "<thinking>", "</thinking>", "<analysis>", "<thi", "nk>", "</", "think", ">", "<", "\n", "\n\n", " ",
		"\t", "  \n", "a", "Done.", "## Goal\n", "<b>", "数", "\u3000",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var pieces []string
		for range random.IntN(12) {
			pieces = append(pieces, tokens[random.IntN(len(tokens))])
		}
		text := strings.Join(pieces, "")
		want := summarizers.WithoutThinking(text)
		require.Equal(t, want, spoken(pieces...), "%q", pieces)
		require.Equal(t, want, spoken(text), "%q", text)
	}
}

// A text without tags is passed on as it is written, except for white space at its ends.
func TestSpokenDoesNotWait(t *testing.T) {
	t.Parallel()
	var deltas []string
	s := summarizers.NewSpoken(func(delta string) { deltas = append(deltas, delta) })
	for _, piece := range []string{"\n", " ## Goal", "\n- x", " <", "think> \n", "<b", ">", "\n"} {
		s.Add(piece)
	}
	require.Equal(t, []string{"## Goal", "\n- x", " <", "think>", " \n<b", ">"}, deltas)
	s.End()
	require.Len(t, deltas, 6)
}

func TestThinkingThatIsNotClosedStays(t *testing.T) {
	for text, want := range map[string]string{
		"a\n<think>b\nc": "a\n<think>b\nc", "<think>a</think>\nb\n<think>c": "b\n<think>c",
		"<think>\n<thinking>x</thinking>\ny": "<think>\n\ny", "<think>a</think>": "", " a ": "a",
	} {
		require.Equal(t, want, summarizers.WithoutClosedThinking(text))
	}
	// Nor is it searched for again and again.
	many := strings.Repeat("<think>\n", 1<<20)
	require.Len(t, summarizers.WithoutClosedThinking(many), len(many)-1)
}
