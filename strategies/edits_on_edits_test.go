package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

const (
	truncated = compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT
	offloaded = compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT
	hidden    = compactordv1.EditKind_EDIT_KIND_HIDE_RESULT
	stripped  = compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA
	squeezed  = compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT
)

// cutTo cuts results to a number of tokens, with `[cut]` after them.
func cutTo(tokens uint32) *compactordv1.Strategy {
	return truncating(&compactordv1.TruncateToolOutputsStrategy{
		MaxChars: proto.Uint32(4*tokens - 6), Placeholder: proto.String("[cut]"),
	})
}

func previewOver(tokens uint32) *compactordv1.Strategy {
	return offloading(&compactordv1.OffloadStrategy{OverTokens: proto.Uint32(tokens), PreviewChars: proto.Uint32(8)})
}

// gone hides all results except those of the newest n groups.
func gone(keep uint32) *compactordv1.Strategy {
	p := keepGroups(keep)
	p.Placeholder = proto.String("[{tokens} gone]")
	return hideTools(p)
}

// appendEdited appends a result and applies policy.on_append.
func (l *testLog) appendEdited(tokens int, on *compactordv1.Strategy) {
	h := proto.CloneOf(l.head())
	logged := session.Link(h, l.counter, l.message("R", tokens, ""), nil)
	logged.ArrivalEdits = strategies.OnAppend(h, l.counter, onAppend(on), logged, nil)
	session.Advance(h, l.counter, l.policy, logged)
	l.messages, l.heads = append(l.messages, logged), append(l.heads, h)
}

// Strategies after each other in a ladder: hiding also hides results that were only cut or have lost their media. A
// text that says how to recall the result stays, whatever comes later.
func TestCase216LaddersEditWhatIsEdited(t *testing.T) {
	t.Parallel()
	// 2 is long and 4 is short; 6 has media.
	const words = "U T2 R1000 T2 R30 T2 V500 A"
	for _, c := range []struct {
		name  string
		rungs []*compactordv1.Strategy
		edits map[compactordv1.EditKind][]uint32
		// shown are the final tokens of the three results.
		shown [3]uint32
	}{
		{
			"cut, then hidden",
			[]*compactordv1.Strategy{cutTo(50), gone(1)},
			map[compactordv1.EditKind][]uint32{truncated: {6}, hidden: {2, 4}},
			[3]uint32{3, 3, 68},
		},
		{
			"hidden, then cut",
			[]*compactordv1.Strategy{gone(1), cutTo(50)},
			map[compactordv1.EditKind][]uint32{truncated: {6}, hidden: {2, 4}},
			[3]uint32{3, 3, 68},
		},
		{
			"without media, then hidden",
			[]*compactordv1.Strategy{stripping(nil), gone(0)},
			map[compactordv1.EditKind][]uint32{hidden: {2, 4, 6}},
			[3]uint32{3, 3, 3},
		},
		{
			"hidden, then without media",
			[]*compactordv1.Strategy{gone(0), stripping(nil)},
			map[compactordv1.EditKind][]uint32{hidden: {2, 4, 6}},
			[3]uint32{3, 3, 3},
		},
		{
			"offloaded, then hidden",
			[]*compactordv1.Strategy{previewOver(100), gone(1)},
			map[compactordv1.EditKind][]uint32{offloaded: {2, 6}, hidden: {4}},
			[3]uint32{29, 3, 37},
		},
		{
			"hidden, then offloaded",
			[]*compactordv1.Strategy{gone(1), previewOver(100)},
			map[compactordv1.EditKind][]uint32{offloaded: {6}, hidden: {2, 4}},
			[3]uint32{3, 3, 37},
		},
		{
			"cut to no more than what is offloaded",
			[]*compactordv1.Strategy{cutTo(100), previewOver(200)},
			map[compactordv1.EditKind][]uint32{truncated: {2, 6}},
			[3]uint32{100, 30, 118},
		},
		{
			"cut, and still offloaded",
			[]*compactordv1.Strategy{cutTo(100), previewOver(99)},
			map[compactordv1.EditKind][]uint32{offloaded: {2, 6}},
			[3]uint32{29, 30, 37},
		},
		{
			"offloaded, and not cut",
			[]*compactordv1.Strategy{previewOver(100), cutTo(20)},
			map[compactordv1.EditKind][]uint32{truncated: {4}, offloaded: {2, 6}},
			[3]uint32{29, 20, 37},
		},
		{
			"cut shorter",
			[]*compactordv1.Strategy{cutTo(100), cutTo(50)},
			map[compactordv1.EditKind][]uint32{truncated: {2, 6}},
			[3]uint32{50, 30, 68},
		},
		{
			"cut no longer",
			[]*compactordv1.Strategy{cutTo(50), cutTo(100)},
			map[compactordv1.EditKind][]uint32{truncated: {2, 6}},
			[3]uint32{50, 30, 68},
		},
		{
			"without media, by what is left",
			[]*compactordv1.Strategy{stripping(nil), previewOver(600)},
			map[compactordv1.EditKind][]uint32{stripped: {6}, offloaded: {2}},
			[3]uint32{29, 30, 514},
		},
		{
			"compressed, then hidden, cut and offloaded",
			[]*compactordv1.Strategy{compressOver(900, 0), gone(2), cutTo(20), previewOver(10)},
			map[compactordv1.EditKind][]uint32{squeezed: {2, 6}, truncated: {4}, offloaded: {}},
			[3]uint32{2, 20, 2},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rungs := make([]*compactordv1.LadderStrategy_Rung, len(c.rungs))
			for i, s := range c.rungs {
				rungs[i] = rung(s)
			}
			l := newLog().script(words)
			made := planned(t, l, ladder(rungs...))
			places := placesOf(made)
			for kind := range c.edits {
				require.ElementsMatch(t, c.edits[kind], places[kind], "%v", kind)
				delete(places, kind)
			}
			require.Empty(t, places)
			requireConverged(t, l, made, ladder(rungs...))
			var shown [3]uint32
			for i, index := range []int{2, 4, 6} {
				_, shown[i] = l.state().Shown(l.messages[index])
			}
			require.Equal(t, c.shown, shown)
		})
	}
}

// A result that was cut on arrival can be hidden like any other. Its size is that of the part that is left. The
// placeholder names the size of what is recalled.
func TestResultsCutOnArrivalAreHidden(t *testing.T) {
	t.Parallel()
	l := newLog().script("U")
	for range 4 {
		l.script("T2")
		l.appendEdited(1000, cutTo(100))
	}
	l.script("U A U")
	require.Equal(t, uint32(400), l.head().GetPrunableTokens())
	prune := func(protect, minimum uint32) *compactordv1.Strategy {
		return pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepTokens: &protect, MinimumTokens: &minimum, Placeholder: proto.String("[{tokens} gone]"),
		})
	}
	require.Equal(t, []uint32{2, 4}, hiddenIn(planned(t, l, prune(299, 199))))
	require.Equal(t, []uint32{2}, hiddenIn(planned(t, l, prune(300, 99))))
	require.Equal(t, tooFew, planned(t, l, prune(299, 200)).GetSkipReason())
	require.Equal(t, nothing, planned(t, l, prune(400, 0)).GetSkipReason())

	made := planned(t, l, prune(0, 0))
	require.Len(t, made.GetEdits(), 4)
	require.Equal(t, "[1000 gone]", made.GetEdits()[0].GetReplacement())
	require.Equal(t, uint32(97), made.GetEdits()[0].GetTokensFreed())
	requireConverged(t, l, made, prune(0, 0))
	require.Zero(t, l.head().GetPrunableTokens())
}

// minimum_tokens and min_chars also count what is shown.
func TestHidingGoesByWhatIsShown(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2")
	l.appendEdited(1000, cutTo(100))
	long := func(chars uint32) *compactordv1.Strategy {
		p := keepGroups(0)
		p.MinChars = &chars
		return hideTools(p)
	}
	require.Equal(t, []uint32{2}, hiddenIn(planned(t, l, long(400))))
	require.Empty(t, hiddenIn(planned(t, l, long(401))))
	moreThan := func(tokens uint32) *compactordv1.Strategy {
		return clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: proto.Uint32(0), TriggerTokens: proto.Uint32(0), MinimumTokens: &tokens, Placeholder: proto.String("gone"),
		})
	}
	require.Equal(t, []uint32{2}, hiddenIn(planned(t, l, moreThan(99))))
	require.Equal(t, tooFew, planned(t, l, moreThan(100)).GetSkipReason())

	// A placeholder that is not shorter than the rest of the result frees nothing.
	p := keepGroups(0)
	p.Placeholder = proto.String(textOf(100))
	require.Equal(t, nothing, planned(t, l, hideTools(p)).GetSkipReason())
}

// A result that was offloaded on arrival can be recalled unchanged, and stays.
func TestCase216ResultsOffloadedOnArrivalStay(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2")
	l.appendEdited(1000, previewOver(100))
	require.Zero(t, l.head().GetPrunableTokens())
	for _, s := range []*compactordv1.Strategy{gone(0), cutTo(10), previewOver(1), compressOver(1, 0)} {
		require.Equal(t, nothing, planned(t, l, s).GetSkipReason(), "%v", s)
	}
}

// An edit on arrival that frees no tokens is not made.
func TestOnAppendHasToFree(t *testing.T) {
	t.Parallel()
	// Of 4 tokens, 4 characters and a line end are left. With 7 more characters these are 3 tokens, with 8 they are 4.
	for behind, made := range map[int]int{7: 1, 8: 0, 11: 0, 12: 0} {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			l.used("bash", "{}", piece("thirteen long"))
			require.Len(t, arriving(l, onAppend(truncating(&compactordv1.TruncateToolOutputsStrategy{
				MaxChars: proto.Uint32(4), Placeholder: proto.String(strings.Repeat("x", behind)),
			}))), made)
		})
	}
}

// In Go a kind can be set without parameters. It then has all defaults, and summarize still cuts.
func TestKindsWithoutParameters(t *testing.T) {
	t.Parallel()
	summarize := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{}}
	compress := &compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{}}
	require.True(t, strategies.Cuts(summarize))
	require.True(t, strategies.NeedsSummarizer(summarize))
	require.False(t, strategies.Cuts(compress))
	require.True(t, strategies.NeedsSummarizer(compress))
	require.False(t, strategies.NeedsSummarizer(nil))
	require.True(t, strategies.Nests(&compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{}}))
	require.False(t, strategies.Nests(summarize))
	for _, s := range []*compactordv1.Strategy{summarize, compress} {
		require.Error(t, strategies.CheckArrival(&compactordv1.Policy{OnUserMessage: listOf(s)}))
	}
	require.NotNil(t, planned(t, newLog().script("U30000 A U A30000 U A"), summarize).GetCut())
}
