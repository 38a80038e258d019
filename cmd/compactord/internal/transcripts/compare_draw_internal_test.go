package transcripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/replay"
)

// compared are two presets: one leaves a summary and 1,000 tokens of results, the other all results.
func compared() *comparison {
	c := &comparison{}
	c.limits.ContextWindow = proto.Uint32(10_000)
	for _, preset := range []struct {
		name             string
		summary, results uint32
		requests         []uint32
	}{{"short", 1000, 1000, []uint32{2000, 4000, 6000, 2000}}, {"longer", 0, 8000, []uint32{2000, 4000, 6000, 8000}}} {
		r := &presetResult{preset: preset.name, once: &onceFigures{after: preset.summary + preset.results}, replay: &replay.Figures{TriggerTokens: proto.Uint32(6500)}}
		r.once.inView[ofSummary] = share{label: "summary", Tokens: preset.summary}
		r.once.inView[ofResults] = share{label: "tool results", Tokens: preset.results}
		r.once.inView[ofMedia] = share{label: "media"}
		for i, tokens := range preset.requests {
			r.requests = append(r.requests, size{uint32(i), tokens})
		}
		c.results = append(c.results, r)
	}
	return c
}

func TestComparisonIsDrawn(t *testing.T) {
	var plain, coloured, narrow, low strings.Builder
	c := compared()
	c.draw(&plain, painter{}, 42)
	require.Equal(t, `
The view after the one compaction:

  short  2277                    2,000
  longer 7777777777777777        8,000

  2 summary  7 tool results

The requests under short:

       window 10,000

  ---- trigger 6,500
    #
   ##
   ##
  ####
  ####

The requests under longer:

       window 10,000
     #
  ---# trigger 6,500
    ##
   ###
   ###
  ####
  ####
`, plain.String())
	c.draw(&coloured, painter{terminal: true}, 42)
	require.Contains(t, coloured.String(), "  short  \x1b[36m██\x1b[0m\x1b[31m██\x1b[0m   ")
	require.Contains(t, coloured.String(), "\x1b[36m█\x1b[0m summary")
	c.draw(&narrow, painter{}, 21)
	require.Empty(t, narrow.String())

	// Of many presets each curve is low. One that failed has none.
	c.results = append(c.results, &presetResult{preset: "failed"}, &presetResult{preset: "failed, too"})
	c.draw(&low, painter{}, 42)
	require.Contains(t, low.String(), "The requests under short:\n\n       window 10,000\n  -##- trigger 6,500\n  ####\n")
	require.NotContains(t, low.String(), "failed")
}
