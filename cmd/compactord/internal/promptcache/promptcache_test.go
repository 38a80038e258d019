package promptcache_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/cmd/compactord/internal/promptcache"
)

// blocks returns blocks of so many tokens, each of its own letter.
func blocks(letters string, tokens int) []promptcache.Block {
	var all []promptcache.Block
	for _, letter := range letters {
		all = append(all, promptcache.TextBlock(strings.Repeat(string(letter), 4*tokens)))
	}
	return all
}

func TestPrefixReadsWhatItSharesWithAnEarlierRequest(t *testing.T) {
	t.Parallel()
	s := promptcache.NewSimulation(promptcache.Prefix, promptcache.DefaultPrices())
	send := func(letters string) promptcache.Charge {
		c := s.Send(promptcache.Request{Blocks: blocks(letters, 1000)})
		c.Dollars = 0
		return c
	}
	require.Equal(t, promptcache.Charge{Written: 2000}, send("ab"))
	// 2,000 tokens in steps of 128.
	require.Equal(t, promptcache.Charge{Read: 1920, Written: 1080}, send("abc"))
	// Fewer than 1,024 tokens are not read.
	require.Equal(t, promptcache.Charge{Written: 2000}, send("ax"))
	require.Equal(t, promptcache.Charge{Read: 2944, Written: 1056}, send("abcd"))
	require.Equal(t, promptcache.Charge{Plain: 1000}, send("e"))
}

// Where blocks end does not matter to a prefix cache.
func TestPrefixEndsWithinABlock(t *testing.T) {
	t.Parallel()
	s := promptcache.NewSimulation(promptcache.Prefix, promptcache.DefaultPrices())
	s.Send(promptcache.Request{Blocks: []promptcache.Block{promptcache.TextBlock(strings.Repeat("é", 8000))}})
	c := s.Send(promptcache.Request{Blocks: []promptcache.Block{
		promptcache.TextBlock(strings.Repeat("é", 3000)), promptcache.TextBlock(strings.Repeat("é", 3000) + strings.Repeat("x", 4000)),
	}})
	require.Equal(t, 1500/128*128, c.Read)
}

func TestPrefixForgetsAfterItsTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		model   promptcache.Model
		minutes []int
		read    int
	}{
		"soon":                      {promptcache.Prefix, []int{0, 5}, 1920},
		"late":                      {promptcache.Prefix, []int{0, 6}, 0},
		"a use prolongs":            {promptcache.Prefix, []int{0, 4, 8}, 1920},
		"breakpoints soon":          {promptcache.Breakpoints, []int{0, 5}, 2000},
		"breakpoints late":          {promptcache.Breakpoints, []int{0, 6}, 0},
		"breakpoints are prolonged": {promptcache.Breakpoints, []int{0, 4, 8}, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := promptcache.NewSimulation(test.model, promptcache.DefaultPrices())
			var last promptcache.Charge
			for _, m := range test.minutes {
				last = s.Send(promptcache.Request{Blocks: blocks("ab", 1000), At: start.Add(time.Duration(m) * time.Minute)})
			}
			require.Equal(t, test.read, last.Read)
		})
	}
}

func TestBreakpointsReadWholeEntries(t *testing.T) {
	t.Parallel()
	prices := promptcache.DefaultPrices()
	prices.Lookback = 3
	s := promptcache.NewSimulation(promptcache.Breakpoints, prices)
	send := func(letters string) int {
		return s.Send(promptcache.Request{Blocks: blocks(letters, 2000), Stable: 1}).Read
	}
	require.Equal(t, 0, send("sab"))
	require.Equal(t, 6000, send("sabc"), "the entry at the last block of the request before")
	require.Equal(t, 2000, send("sxyz"), "the entry at the end of the instructions")
	require.Equal(t, 2000, send("sabcdef"), "the other one is too far back")
}

// What is read lives on, also where the request marks another end.
func TestReadingProlongsAnEntry(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := promptcache.NewSimulation(promptcache.Breakpoints, promptcache.DefaultPrices())
	var last promptcache.Charge
	for i, letters := range []string{"sab", "sabc", "sabx"} {
		last = s.Send(promptcache.Request{Blocks: blocks(letters, 2000), Stable: 1, At: start.Add(time.Duration(4*i) * time.Minute)})
	}
	require.Equal(t, 6000, last.Read)
}

func TestPricesOfACharge(t *testing.T) {
	t.Parallel()
	p := promptcache.Prices{Input: 2, Write: 1.5, Read: 0.5}
	require.InDelta(t, 2*(1.5+0.5+3), p.Of(promptcache.Charge{Written: 1e6, Read: 1e6, Plain: 3e6}), 1e-9)
	var sum promptcache.Totals
	sum.Add(promptcache.Charge{Written: 1e6, Dollars: 3}, p)
	sum.Add(promptcache.Charge{Read: 2e6, Plain: 1e6, Dollars: 4}, p)
	require.Equal(t, promptcache.Totals{
		Requests: 2, Sent: 4e6, Read: 2e6, Written: 1e6, Plain: 1e6, Peak: 3e6, Dollars: 7, Uncached: 8,
	}, sum)
}

// Whatever is sent, the tokens of a charge are those of its request, and nothing is read that was not sent before.
func TestChargesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		model := rapid.SampledFrom([]promptcache.Model{promptcache.Prefix, promptcache.Breakpoints}).Draw(t, "model")
		prices := promptcache.DefaultPrices()
		prices.MinTokens = rapid.SampledFrom([]int{0, 128, 1024}).Draw(t, "minimum")
		s := promptcache.NewSimulation(model, prices)
		longest := 0
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			letters := rapid.StringMatching(`s[ab]{0,6}`).Draw(t, "letters")
			r := promptcache.Request{Blocks: blocks(letters, 300), Stable: rapid.IntRange(0, 1).Draw(t, "stable")}
			c := s.Send(r)
			require.Equal(t, 300*len(letters), c.Read+c.Written+c.Plain)
			require.LessOrEqual(t, c.Read, longest)
			require.GreaterOrEqual(t, min(c.Read, c.Written, c.Plain), 0)
			longest = max(longest, 300*len(letters))
		}
	})
}

// After the second request, at 110 tokens, a compaction leaves 20: the third then has 20 + 10 + 40.
func TestTimingAt(t *testing.T) {
	t.Parallel()
	p := promptcache.Prices{Input: 1e6, Write: 1, Read: 0.1}
	g := promptcache.Growth{Lead: 10, Sizes: []int{50, 110, 150, 160}}
	never := p.TimingAt(g, 20, nil)
	require.Equal(t, 160, never.Peak)
	require.InDelta(t, 50+(5+60)+(11+40)+(15+10), never.Dollars, 1e-9)
	once := p.TimingAt(g, 20, []int{2})
	require.Equal(t, 110, once.Peak)
	require.InDelta(t, 50+(5+60)+(1+20)+(3+10), once.Dollars, 1e-9)
	best, found := p.BestTiming(g, 20, 200)
	require.True(t, found)
	require.Equal(t, []int{1, 2}, best.Before, "the last request would have to be written again")
	require.InDelta(t, 50+(1+20)+(1+20)+(3+10), best.Dollars, 1e-9)
	_, found = p.BestTiming(g, 20, 40)
	require.False(t, found, "the first request is larger")
	require.Equal(t, []int{2}, p.TriggeredAt(g, 20, 110).Before)
	require.Equal(t, []int{1, 2, 3}, p.TriggeredAt(g, 20, 20).Before)
	require.Empty(t, p.TriggeredAt(g, 200, 20).Before, "a compaction that removes nothing")
}

// No other timing within the limit is cheaper than the best.
func TestBestTimingIsBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := promptcache.Prices{Input: 1e6, Write: 1.25, Read: 0.1}
		g := promptcache.Growth{Lead: rapid.IntRange(0, 50).Draw(t, "lead")}
		size := g.Lead
		for range rapid.IntRange(1, 9).Draw(t, "requests") {
			size += rapid.IntRange(0, 100).Draw(t, "grown")
			g.Sizes = append(g.Sizes, size)
		}
		left, limit := rapid.IntRange(0, 200).Draw(t, "left"), rapid.IntRange(0, 600).Draw(t, "limit")
		best, found := p.BestTiming(g, left, limit)
		for chosen := range 1 << (len(g.Sizes) - 1) {
			var before []int
			for i := 1; i < len(g.Sizes); i++ {
				if chosen>>(i-1)&1 == 1 {
					before = append(before, i)
				}
			}
			other := p.TimingAt(g, left, before)
			if other.Peak > limit {
				continue
			}
			require.True(t, found)
			require.LessOrEqual(t, best.Dollars, other.Dollars+1e-6)
		}
		if found {
			require.LessOrEqual(t, best.Peak, limit)
		}
	})
}

// The best timing is that of the plain search, which compares each end of each segment.
func TestBestTimingIsThatOfThePlainSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// With these prices all sums are exact, so equal costs are equal.
		p := promptcache.Prices{Input: 1e6, Write: float64(rapid.IntRange(0, 3).Draw(t, "write")), Read: float64(rapid.IntRange(0, 3).Draw(t, "read"))}
		g := promptcache.Growth{Lead: rapid.IntRange(0, 50).Draw(t, "lead")}
		size := g.Lead
		grown := rapid.IntRange(0, 60)
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			size += grown.Draw(t, "grown")
			g.Sizes = append(g.Sizes, size)
		}
		left, limit := rapid.IntRange(0, 200).Draw(t, "left"), rapid.IntRange(0, 800).Draw(t, "limit")
		best, found := p.BestTiming(g, left, limit)
		plain, possible := plainBestTiming(p, g, left, limit)
		require.Equal(t, possible, found)
		require.Equal(t, plain, best)
	})
}

// plainBestTiming tries each end of each segment.
func plainBestTiming(p promptcache.Prices, g promptcache.Growth, left, limit int) (promptcache.Timing, bool) {
	n := len(g.Sizes)
	least, next := make([]float64, n+1), make([]int, n)
	for first := n - 1; first >= 0; first-- {
		least[first] = math.Inf(1)
		for end := first + 1; end <= n; end++ {
			// The segment alone: the cost with a compaction before it and after it, without what comes before and after.
			before, upTo := []int{}, promptcache.Growth{Lead: g.Lead, Sizes: g.Sizes[:end]}
			if first > 0 {
				before = append(before, first)
			}
			segment := p.TimingAt(upTo, left, before)
			if first > 0 {
				segment.Dollars -= p.TimingAt(promptcache.Growth{Lead: g.Lead, Sizes: g.Sizes[:first]}, left, nil).Dollars
			}
			peak := g.Sizes[end-1]
			if first > 0 {
				peak += min(g.Lead+left, g.Sizes[first]) - g.Sizes[first]
			}
			if cost := segment.Dollars + least[end]; peak <= limit && cost < least[first] {
				least[first], next[first] = cost, end
			}
		}
	}
	if math.IsInf(least[0], 1) {
		return promptcache.Timing{}, false
	}
	var before []int
	for at := next[0]; at < n; at = next[at] {
		before = append(before, at)
	}
	return p.TimingAt(g, left, before), true
}
