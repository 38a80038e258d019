package transcripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// sawtooth is a log of twelve messages of 1,000 tokens each, a compaction after the eighth, and a revert to the point before
// it at the end.
func sawtooth() ([]size, []*compactordv1.Record) {
	var messages []size
	for i := range uint32(13) {
		if i != 8 {
			messages = append(messages, size{i, 1000})
		}
	}
	return messages, []*compactordv1.Record{
		{Sequence: 8, Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{TokensAfter: 2000}}},
		{Sequence: 13, Kind: &compactordv1.Record_Checkpoint{Checkpoint: &compactordv1.Checkpoint{}}},
		{Sequence: 14, Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{Point: 7}}},
	}
}

func TestCurve(t *testing.T) {
	var tokens []uint32
	for _, s := range newCurve(sawtooth()) {
		tokens = append(tokens, s.tokens)
	}
	require.Equal(t, []uint32{1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 2000, 3000, 4000, 5000, 6000, 6000, 8000}, tokens)
}

func TestCurveIsDrawnAgainstTriggerAndWindow(t *testing.T) {
	report := &compactordv1.ContextReport{
		ContextWindow: proto.Uint32(10_000), TriggerTokens: proto.Uint32(7500), OverheadTokens: 500,
	}
	var plain, coloured, unknown, narrow strings.Builder
	c := newCurve(sawtooth())
	c.draw(&plain, report, painter{}, 80)
	require.Equal(t, `
The context over the log, by its estimates:

                  window 10,000
         #      #
  -----###----### trigger 7,500
      ####   ####
     #####  #####
    ###### ######
  ###############
  ###############
`, "\n"+strings.TrimPrefix(plain.String(), "\n"))
	c.draw(&coloured, report, painter{terminal: true}, 80)
	require.Contains(t, coloured.String(), "\x1b[36m")
	require.Contains(t, coloured.String(), "    ▃███   ▃███\x1b[0m\n")
	c.draw(&unknown, &compactordv1.ContextReport{}, painter{}, 80)
	require.Contains(t, unknown.String(), " 8,000\n")
	require.NotContains(t, unknown.String(), "-")
	c.draw(&narrow, report, painter{}, 30)
	for line := range strings.SplitSeq(narrow.String(), "\n") {
		if strings.HasPrefix(line, "  ") {
			require.LessOrEqual(t, len([]rune(line)), 30, line)
		}
	}
	// The last column is the present, also just after a compaction.
	messages, records := sawtooth()
	var compacted strings.Builder
	newCurve(messages[:8], records[:1]).draw(&compacted, report, painter{}, labelColumns+3)
	require.Equal(t, `
The context over the log, by its estimates:

      window 10,000

  -#- trigger 7,500
   #
   #
  ##
  ###
  ###
`, compacted.String())

	// Too narrow to draw, or nothing to draw.
	var none strings.Builder
	c.draw(&none, report, painter{}, 21)
	curve(nil).draw(&none, report, painter{}, 80)
	require.Empty(t, none.String())
}
