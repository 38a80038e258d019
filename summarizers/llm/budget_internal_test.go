package llm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// The parts add up to the window, whatever its size, and each is large enough.
func TestPartsOfTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := &Profile{
			Window:    rapid.Uint32Range(1, 4_000_000).Draw(t, "window"),
			MaxOutput: rapid.SampledFrom([]uint32{0, 96, 100, 1_000, 4_096, 64_000, 1 << 31}).Draw(t, "max output"),
			Effort:    rapid.SampledFrom([]string{"", "none", "minimal", "low", "medium", "high", "max"}).Draw(t, "effort"),
		}
		kind := rapid.SampledFrom([]summarizers.Kind{summarizers.History, summarizers.TurnPrefix}).Draw(t, "kind")
		asked := rapid.SampledFrom([]uint32{64, 100, 1_024, 8_192, 13_107, 1 << 20, 1<<32 - 1}).Draw(t, "asked")
		b, err := divide(p, kind, asked)
		margin := max(64, p.Window/100)
		if p.Window < margin+prompts.MinPromptTokens+minOutput {
			require.ErrorIs(t, err, errWindow)
			return
		}
		require.NoError(t, err)
		require.Equal(t, uint64(p.Window), uint64(b.prompt)+uint64(b.output)+uint64(margin))
		require.Equal(t, p.Window-margin, b.usable)
		require.GreaterOrEqual(t, b.prompt, uint32(prompts.MinPromptTokens))
		require.GreaterOrEqual(t, b.answer, uint32(64))
		require.LessOrEqual(t, b.answer, asked)
		require.LessOrEqual(t, uint64(b.answer)*3/2+uint64(b.think), uint64(b.output))
		share := p.Window / 4
		if thinkingBudget(p, kind) > 0 {
			share = p.Window / 2
		}
		require.LessOrEqual(t, b.output, share)
		if p.MaxOutput > 0 {
			require.LessOrEqual(t, b.output, p.MaxOutput)
		}
		// If there is enough space, the full budget is used.
		enough := uint64(answerTokens(asked)) + 16<<10
		if uint64(share) >= enough && (p.MaxOutput == 0 || uint64(p.MaxOutput) >= enough) && uint64(p.Window) >= enough+8_000 {
			require.Equal(t, asked, b.answer)
		}
		require.Equal(t, b.output, b.outputFor(asked))
	})
}

func TestThinkingGetsNoMoreThanHalf(t *testing.T) {
	t.Parallel()
	b, err := divide(&Profile{Window: 200_000, MaxOutput: 20_000, Effort: "high"}, summarizers.History, 13_107)
	require.NoError(t, err)
	require.Equal(t, budget{
		prompt: 200_000 - 2_000 - 20_000, output: 20_000, think: 10_000, most: 20_000, answer: 6_666, usable: 198_000,
	}, b)
	b, err = divide(&Profile{Window: 32_000, Effort: "high"}, summarizers.History, 13_107)
	require.NoError(t, err)
	require.Equal(t, budget{
		prompt: 32_000 - 320 - 16_000, output: 16_000, think: 8_000, most: 32_000, answer: 5_333, usable: 31_680,
	}, b)
}

func TestFactorsOfTheKinds(t *testing.T) {
	t.Parallel()
	text := "The parser reads line by line, and fails at the last one."
	for _, c := range []struct {
		profile Profile
		want    uint32
	}{
		{Profile{Kind: "openai"}, 14},
		{Profile{Kind: "gemini"}, 17},
		{Profile{Kind: "anthropic"}, 23},
		{Profile{Kind: "openai", TokenFactor: 3}, 42},
		{Profile{Kind: "anthropic", TokenFactor: 1}, 14},
	} {
		counter, err := newCounter(&c.profile)
		require.NoError(t, err)
		require.Equal(t, c.want, counter.text(text), "%+v", c.profile)
	}
}
