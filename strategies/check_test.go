package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

func TestCheckCut(t *testing.T) {
	t.Parallel()
	// 0 S, 1 U, 2 A (both covered), 3 U, 4 T, 5 R, 6 D, 7 A, 8 X, 9 U, 10 T open.
	l := newLog().script("S U A U")
	l.commit(&compactordv1.CompactionPlan{Cut: &compactordv1.Cut{FirstKeptIndex: 3}}, "before")
	l.script("T R D A X U T")
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	cut := func(first uint32) *compactordv1.Cut {
		return &compactordv1.Cut{
			FirstKeptIndex:   first,
			Summarized:       &compactordv1.IndexRange{Start: 3, End: first},
			MaxSummaryTokens: 100,
		}
	}
	for _, c := range []struct {
		name   string
		first  uint32
		change func(c *compactordv1.Cut)
		want   string
	}{
		{"before a user message", 9, nil, ""},
		{"before an assistant message", 4, nil, ""},
		{"within a turn that starts where it says", 7, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(3) }, ""},
		{"before an open group", 10, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(9) }, ""},
		{"within a group", 5, nil, "(I4)"},
		{"before a developer message", 6, nil, "(I4)"},
		{"before an aborted message", 8, nil, "(I4)"},
		{"behind the end", 11, nil, "(I1)"},
		{"far behind the end", 1 << 31, nil, "(I1)"},
		{"at what was the cut", 3, nil, "(I5)"},
		{"before what was the cut", 2, nil, "(I1)"},
		{"in the leading messages", 0, nil, "(I1)"},
		{"no range", 9, func(c *compactordv1.Cut) { c.Summarized = nil }, "(I1)"},
		{"a later start", 9, func(c *compactordv1.Cut) { c.Summarized.Start = 4 }, "(I1)"},
		{"an earlier start", 9, func(c *compactordv1.Cut) { c.Summarized.Start = 1 }, "(I1)"},
		{"another end", 9, func(c *compactordv1.Cut) { c.Summarized.End = 8 }, "(I1)"},
		{"a turn that nothing splits", 9, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(3) }, "(I1)"},
		{"a turn that starts at the cut", 9, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(9) }, "(I1)"},
		{"a turn of another start", 7, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(4) }, "(I1)"},
		{"a turn that is not kept", 7, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(1) }, "(I1)"},
		{"an earlier turn", 10, func(c *compactordv1.Cut) { c.SplitTurnStart = proto.Uint32(3) }, "(I1)"},
		{"no budget", 9, func(c *compactordv1.Cut) { c.MaxSummaryTokens = 0 }, "(I5)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := cut(c.first)
			if c.change != nil {
				c.change(made)
			}
			requireVerdict(t, c.want, strategies.Check(in, &compactordv1.CompactionPlan{Cut: made}))
		})
	}
}

func requireVerdict(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, strategies.ErrInvalidPlan)
	require.ErrorContains(t, err, want)
}

func TestCheckSplitOfATurnWithoutItsStart(t *testing.T) {
	t.Parallel()
	l := newLog().script("A A A")
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	c := &compactordv1.Cut{
		FirstKeptIndex: 2, Summarized: &compactordv1.IndexRange{End: 2}, MaxSummaryTokens: 100,
		SplitTurnStart: proto.Uint32(0),
	}
	requireVerdict(t, "(I1)", strategies.Check(in, &compactordv1.CompactionPlan{Cut: c}))
}

func TestCheckWhole(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T R100 U T R100 A")
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	cut := &compactordv1.Cut{
		FirstKeptIndex: 3, Summarized: &compactordv1.IndexRange{End: 3}, MaxSummaryTokens: 100,
	}
	hide := func(index uint32) *compactordv1.Edit {
		return &compactordv1.Edit{
			Index: index, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "gone",
		}
	}
	for _, c := range []struct {
		name string
		plan *compactordv1.CompactionPlan
		want string
	}{
		{"none", nil, "there is none"},
		{"empty", &compactordv1.CompactionPlan{}, ""},
		{"skipped", &compactordv1.CompactionPlan{SkipReason: nothing}, ""},
		{"skipped with a cut", &compactordv1.CompactionPlan{Cut: cut, SkipReason: nothing}, "skip_reason"},
		{"skipped with edits", &compactordv1.CompactionPlan{
			Edits: []*compactordv1.Edit{hide(2)}, SkipReason: nothing,
		}, "skip_reason"},
		{"edits", &compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{hide(2), hide(5)}}, ""},
		{"an edit twice", &compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{hide(2), hide(2)}}, "(I5)"},
		{"a cut, and an edit of what is kept", &compactordv1.CompactionPlan{
			Cut: cut, Edits: []*compactordv1.Edit{hide(5)},
		}, ""},
		{"a cut, and an edit of what is covered", &compactordv1.CompactionPlan{
			Cut: cut, Edits: []*compactordv1.Edit{hide(2)},
		}, "does not show after the summary"},
		{"a nil edit", &compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{nil}}, "no such kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireVerdict(t, c.want, strategies.Check(in, c.plan))
		})
	}
}

// editLog has: 0 S, 1 U with an image, 2 A with thinking and two calls, 3 and 4 their results, the second with an image,
// 5 X with a call, 6 its result, 7 a result without a call, 8 a pinned group with 9, 10 a group that is open with 11.
func editLog() *testLog {
	image := &compactordv1.MediaPart{MimeType: "image/png", Name: "a.png", Source: &compactordv1.MediaPart_FileId{FileId: "f"}}
	l := newLog().script("S")
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{
		session.TextPart("look"), {Kind: &compactordv1.Part_Media{Media: image}},
	}})
	call := l.message("T", 100, "a,b")
	call.Parts = append([]*compactordv1.Part{{
		Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: textOf(50)}},
	}}, call.GetParts()...)
	l.add(call)
	l.script("R100:a")
	answer := l.message("R", 100, "b")
	answer.GetParts()[0].GetToolResult().Parts = append(answer.GetParts()[0].GetToolResult().GetParts(),
		&compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: image}})
	l.add(answer)
	l.script("X100:x R100:x R100:y T100:p R100:p T100:c,d R100:c")
	l.pin(8)
	return l
}

func TestCheckEdits(t *testing.T) {
	t.Parallel()
	const (
		hide     = compactordv1.EditKind_EDIT_KIND_HIDE_RESULT
		truncate = compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT
		offload  = compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT
		compress = compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT
		args     = compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS
		thinking = compactordv1.EditKind_EDIT_KIND_DROP_THINKING
		media    = compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA
		collapse = compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP
	)
	edit := func(index, part uint32, kind compactordv1.EditKind, text string) *compactordv1.Edit {
		return &compactordv1.Edit{Index: index, Part: part, Kind: kind, Replacement: text}
	}
	written := func(e *compactordv1.Edit) *compactordv1.Edit {
		e.BySummarizer = true
		return e
	}
	long := textOf(100)
	for _, c := range []struct {
		name  string
		edits []*compactordv1.Edit
		want  string
	}{
		{"a result hidden", []*compactordv1.Edit{edit(3, 0, hide, "gone")}, ""},
		{"a result truncated", []*compactordv1.Edit{edit(3, 0, truncate, "gone")}, ""},
		{"a result offloaded", []*compactordv1.Edit{edit(3, 0, offload, "gone")}, ""},
		{"a result written shorter", []*compactordv1.Edit{edit(3, 0, compress, "gone")}, ""},
		{"a result to be written shorter", []*compactordv1.Edit{written(edit(3, 0, compress, ""))}, ""},
		{"a result of an open group truncated", []*compactordv1.Edit{edit(11, 0, truncate, "gone")}, ""},
		{"first truncated, then hidden", []*compactordv1.Edit{
			edit(3, 0, truncate, textOf(50)), edit(3, 0, hide, "gone"),
		}, ""},
		{"arguments", []*compactordv1.Edit{edit(2, 1, args, ` {"gone":1}`)}, ""},
		{"thinking", []*compactordv1.Edit{edit(2, 0, thinking, "")}, ""},
		{"an image", []*compactordv1.Edit{edit(1, 1, media, "gone")}, ""},
		{"a result's image", []*compactordv1.Edit{edit(4, 0, media, "gone")}, ""},
		{"a group collapsed", []*compactordv1.Edit{edit(2, 0, collapse, "done")}, ""},
		{"a group collapsed to nothing", []*compactordv1.Edit{edit(2, 0, collapse, "")}, ""},
		// Longer than the calls, but not than the whole group.
		{"a group collapsed to a long line", []*compactordv1.Edit{edit(2, 0, collapse, textOf(300))}, ""},

		{"in the leading messages", []*compactordv1.Edit{edit(0, 0, hide, "gone")}, "does not show"},
		{"behind the end", []*compactordv1.Edit{edit(12, 0, hide, "gone")}, "does not show"},
		{"pinned", []*compactordv1.Edit{edit(9, 0, hide, "gone")}, "pinned"},
		{"a part that is not there", []*compactordv1.Edit{edit(3, 1, hide, "gone")}, "has 1 parts"},
		{"a part far behind", []*compactordv1.Edit{edit(3, 1<<32-1, hide, "gone")}, "has 1 parts"},
		{"no kind", []*compactordv1.Edit{edit(3, 0, 0, "gone")}, "no such kind"},
		{"an unheard-of kind", []*compactordv1.Edit{edit(3, 0, 99, "gone")}, "no such kind"},
		{"hiding what is no result", []*compactordv1.Edit{edit(2, 1, hide, "gone")}, "no tool result"},
		{"hiding a user's text", []*compactordv1.Edit{edit(1, 0, hide, "gone")}, "no tool result"},
		{"hiding without a word", []*compactordv1.Edit{edit(3, 0, hide, "")}, "what was there"},
		{"a result of an aborted message", []*compactordv1.Edit{edit(6, 0, hide, "gone")}, "answers no call"},
		{"a result without a call", []*compactordv1.Edit{edit(7, 0, hide, "gone")}, ""},
		{"a result without a call, as long", []*compactordv1.Edit{edit(7, 0, hide, textOf(2000))}, "(I5)"},
		{"a result without a call, cut", []*compactordv1.Edit{edit(7, 0, truncate, "gone")}, "answers no call"},
		{"a result without a call, written", []*compactordv1.Edit{written(edit(7, 0, compress, ""))}, "answers no call"},
		{"as long as the result", []*compactordv1.Edit{edit(3, 0, hide, long)}, "(I5)"},
		{"hidden, then longer", []*compactordv1.Edit{
			edit(3, 0, hide, "gone"), edit(3, 0, truncate, textOf(50)),
		}, "(I5)"},
		{"hidden by a summarizer", []*compactordv1.Edit{written(edit(3, 0, hide, ""))}, "only shorter results"},
		{"written before it is written", []*compactordv1.Edit{written(edit(3, 0, compress, "x"))}, "before the summarizer"},
		{"written twice", []*compactordv1.Edit{
			written(edit(3, 0, compress, "")), written(edit(3, 0, compress, "")),
		}, "written twice"},
		{"arguments of a result", []*compactordv1.Edit{edit(3, 0, args, "{}")}, "no tool call"},
		{"arguments that are no JSON", []*compactordv1.Edit{edit(2, 1, args, "{gone}")}, "no JSON object"},
		{"arguments that are no object", []*compactordv1.Edit{edit(2, 1, args, `"gone"`)}, "no JSON object"},
		{"null arguments", []*compactordv1.Edit{edit(2, 1, args, "null")}, "no JSON object"},
		{"short arguments", []*compactordv1.Edit{edit(2, 2, args, "{}")}, "(I5)"},
		{"arguments of an aborted message", []*compactordv1.Edit{edit(5, 0, args, "{}")}, "(I5)"},
		{"arguments by a summarizer", []*compactordv1.Edit{written(edit(2, 1, args, "{}"))}, "only shorter results"},
		{"thinking that is none", []*compactordv1.Edit{edit(2, 1, thinking, "")}, "no thinking"},
		{"thinking replaced", []*compactordv1.Edit{edit(2, 0, thinking, "hm")}, "stand in for thinking"},
		{"thinking twice", []*compactordv1.Edit{edit(2, 0, thinking, ""), edit(2, 0, thinking, "")}, "(I5)"},
		{"media that is none", []*compactordv1.Edit{edit(1, 0, media, "gone")}, "no media"},
		{"media of a text result", []*compactordv1.Edit{edit(3, 0, media, "gone")}, "no media"},
		{"media without a word", []*compactordv1.Edit{edit(1, 1, media, "")}, "what was there"},
		{"a result's media without a word", []*compactordv1.Edit{edit(4, 0, media, "")}, "what was there"},
		{"an open group collapsed", []*compactordv1.Edit{edit(10, 0, collapse, "done")}, "(I2)"},
		{"a result collapsed", []*compactordv1.Edit{edit(3, 0, collapse, "done")}, "(I2)"},
		{"an aborted message collapsed", []*compactordv1.Edit{edit(5, 0, collapse, "done")}, "(I2)"},
		{"a pinned group collapsed", []*compactordv1.Edit{edit(8, 0, collapse, "done")}, "pinned"},
		{"one call of a group collapsed", []*compactordv1.Edit{edit(2, 1, collapse, "done")}, "names a part"},
		{"collapsed by a summarizer", []*compactordv1.Edit{written(edit(2, 0, collapse, ""))}, "summarizer"},
		{"collapsed to more", []*compactordv1.Edit{edit(2, 0, collapse, textOf(2000))}, "(I5)"},
		{"collapsed, then hidden", []*compactordv1.Edit{edit(2, 0, collapse, "done"), edit(3, 0, hide, "gone")}, "(I5)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := editLog()
			in := &strategies.Input{State: l.state(), Policy: l.policy}
			requireVerdict(t, c.want, strategies.Check(in, &compactordv1.CompactionPlan{Edits: c.edits}))
		})
	}
}

func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	l := editLog()
	s := l.state()
	before := s.View(session.ViewOptions{})
	in := &strategies.Input{State: s, Policy: l.policy}
	plan := &compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{
		{Index: 3, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, Replacement: textOf(50)},
	}}
	require.NoError(t, strategies.Check(in, plan))
	require.NoError(t, strategies.Check(in, plan))
	require.Empty(t, s.Edits)
	require.Equal(t, before.Tokens, s.View(session.ViewOptions{}).Tokens)

	// Nor does it write after the end of a list of edits, where another reader of the state may be appending.
	spare := make([]*compactordv1.Edit, 1, 2)
	spare[0] = &compactordv1.Edit{
		Index: 3, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, Replacement: textOf(80),
	}
	s.Edits[3] = spare
	require.NoError(t, strategies.Check(in, plan))
	require.Nil(t, spare[:2][1])
}
