package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
)

// A large expression is searched for in a part of the log at a time, from either end, and no hit is lost.
func TestSearchDoesALimitedPartOfTheWork(t *testing.T) {
	t.Parallel()
	d := start(t, withStore(memory.New()))
	d.create("s", nil)
	hay := strings.Repeat(strings.Repeat("hay ", 16)+"\n", 3<<10)
	var want []uint32
	for index := uint32(0); index < 12; index += 2 {
		d.append("s", user(hay), user("a needle"))
		want = append(want, index+1)
	}
	for _, newest := range []bool{false, true} {
		req := searchPattern("needle|~{1000}~{900}")
		req.NewestFirst = newest
		hits, pages := d.search(req)
		got := indexesOf(hits)
		if newest {
			slices.Reverse(got)
		}
		require.Equal(t, want, got)
		// A busy machine needs more of them: the time of a call is limited, too.
		require.GreaterOrEqual(t, pages, 2, "12 times 196,608 bytes and more than 1,900 steps are more than one call does")
	}
}

// The search for a match in long content goes on where one call has searched as much as it may.
func TestRecallMatchDoesALimitedPartOfTheWork(t *testing.T) {
	t.Parallel()
	d := start(t, withStore(memory.New()))
	d.create("s", nil)
	d.append("s", user(strings.Repeat(strings.Repeat("hay ", 16)+"\n", 12<<10)+"needle"))
	req := recallOf(0)
	match := &compactordv1.LineMatch{Pattern: "needle|~{1000}~{900}", ContextLines: 1}
	req.Range = &compactordv1.RecallContentRequest_Match{Match: match}
	answer := d.recall(req)
	require.True(t, answer.GetHasMore(), "65 bytes and some 1,900 steps a line are more than 2^30 in all")
	// A busy machine needs more calls: the time of one is limited, too.
	for answer.GetHasMore() {
		require.Empty(t, answer.GetBlocks())
		require.Greater(t, answer.GetNextLine(), match.GetFirstLine())
		match.FirstLine = answer.GetNextLine()
		answer = d.recall(req)
	}
	require.Equal(t, []uint32{12<<10 + 1}, answer.GetBlocks()[0].GetMatchingLines())
	require.True(t, strings.HasSuffix(answer.GetBlocks()[0].GetText(), "hay \nneedle"))
}

// A matching line that max_bytes cuts is marked as cut, and the rest of it can be read.
func TestRecallOfACutMatch(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	line := strings.Repeat("x", 100)
	d.append("s", user(line), user(line+"\nx"))
	for index, length := range []uint32{70, 71} {
		req := recallOf(uint32(index))
		req.MaxBytes = 30
		req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: "x"}}
		answer := d.recall(req)
		require.True(t, answer.GetHasMore())
		require.Zero(t, answer.GetNextLine())
		require.Equal(t, uint32(30), answer.GetNextOffset())
		text := answer.GetBlocks()[0].GetText()
		req.MaxBytes = 0
		req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{
			Offset: answer.GetNextOffset(), Length: length,
		}}
		answer = d.recall(req)
		require.Equal(t, line, strings.TrimSuffix(text+answer.GetText(), "\n"))
		require.Equal(t, uint32(2), answer.GetNextLine())
	}
}

// A hit shows the edits that are in force, and none that a revert put aside, although the message stayed active.
func TestSearchShowsEditsInForce(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"), assistant("reading", call("a", "read", "{}")),
		toolResult("a", strings.Repeat(recalled, 30)), user("next"), assistant("done"))
	before := d.checkpoint("s", false)
	require.Len(t, d.prune(hideAll()).GetEdits(), 1)
	edits := func() []compactordv1.EditKind {
		hits, _ := d.search(searchWords("LINE three"))
		require.Len(t, hits, 1)
		require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_ACTIVE, hits[0].GetState())
		return hits[0].GetEdits()
	}
	hidden := []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_HIDE_RESULT}
	require.Equal(t, hidden, edits())
	d.revert(toCheckpoint(before.GetId()))
	require.Empty(t, edits())
	require.Len(t, d.prune(hideAll()).GetEdits(), 1)
	require.Equal(t, hidden, edits())
}
