package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// xbotsOffload has xbot's limits: 2,000 tokens or 10,240 bytes are offloaded, one less is not.
func xbotsOffload() *compactordv1.Strategy {
	return offloading(&compactordv1.OffloadStrategy{
		OverTokens: proto.Uint32(1999), OverBytes: proto.Uint32(10_239), PreviewChars: proto.Uint32(300),
	})
}

// Below 2,000 tokens the bytes decide: 10,239 stay, 10,240 are offloaded. Ideographs have three bytes each, and few
// tokens by chars4.
func TestCase217OffloadsByTokensAndBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		gone bool
	}{
		"empty":                  {"", false},
		"10,239 bytes":           {strings.Repeat("字", 3413), false},
		"10,240 bytes":           {strings.Repeat("字", 3413) + "a", true},
		"1,999 tokens":           {strings.Repeat("word", 1999), false},
		"2,000 tokens":           {strings.Repeat("word", 2000), true},
		"a letter over 1,999":    {strings.Repeat("word", 1999) + "a", true},
		"10,240 bytes of ASCII":  {strings.Repeat("a", 10_240), true},
		"10,239 bytes of tokens": {strings.Repeat("a", 10_239), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			at := l.used("bash", `{}`, piece(c.text))
			made := planned(t, l, xbotsOffload())
			require.Equal(t, c.gone, len(made.GetEdits()) == 1)
			require.Len(t, arriving(l, onAppend(xbotsOffload())), len(made.GetEdits()), "on arrival as afterwards")
			if c.gone {
				require.Equal(t, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, made.GetEdits()[0].GetKind())
				require.Equal(t, c.text, recalled(t, l, replacements(made)[at]))
				requireConverged(t, l, made, xbotsOffload())
			}
		})
	}
}

// Without over_bytes only tokens count.
func TestOffloadWithoutALimitOfBytes(t *testing.T) {
	t.Parallel()
	l := newLog().script("U")
	l.used("bash", `{}`, piece(strings.Repeat("字", 8000)))
	require.Empty(t, planned(t, l, offloading(nil)).GetEdits())
	over := l.used("bash", `{}`, piece(strings.Repeat("字", 8001)))
	require.Equal(t, []uint32{over}, indexesOf(planned(t, l, offloading(nil))))
}

// These results stay: errors, partial reads of files, recalled results, and those that are pinned, edited, or of a
// protected tool.
func TestCase219OffloadLeavesErrorsAndPartialReads(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word", 3000)
	parameters := offloading(&compactordv1.OffloadStrategy{ProtectedTools: []string{"skill"}})
	l := newLog().script("U")
	l.failed("bash", `{"command":"make"}`, long)
	for _, call := range [][2]string{
		{"read", `{"path":"a.go","offset":200}`},
		{"Read", `{"file_path":"a.go","limit":50}`},
		{"read_file", `{"path":"a.go","start_line":10,"end_line":90}`},
		{"view", `{"path":"a.go","view_range":[10,90]}`},
		{"str_replace_editor", `{"command":"view","path":"a.go","view_range":[10,-1]}`},
		{"ReadFile", `{"path":"a.go","line_offset":"7","content":"the rest is bro`},
		{"recall_content", `{"index":2}`},
		{"skill", `{"name":"deploy"}`},
	} {
		l.used(call[0], call[1], piece(long))
		require.Empty(t, arriving(l, onAppend(parameters)), call[1])
	}
	l.pin(l.used("bash", `{}`, piece(long)))
	hidden := l.used("bash", `{}`, piece(long))
	l.commit(&plan{Edits: []*compactordv1.Edit{{
		Index: hidden, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]",
	}}}, "")
	require.Equal(t, nothing, planned(t, l, parameters).GetSkipReason())

	var whole []uint32
	for _, call := range [][2]string{
		{"read", `{"path":"a.go"}`},
		{"read", `{"path":"a.go","offset":0}`},
		{"read", `{"path":"a.go","offset":"0","limit":null}`},
		{"view", `{"path":"a.go","view_range":[]}`},
		{"grep", `{"pattern":"x","limit":50}`}, // reads no file
		{"read", `not even JSON`},
	} {
		whole = append(whole, l.used(call[0], call[1], piece(long)))
		require.Len(t, arriving(l, onAppend(parameters)), 1, call[1])
	}
	require.Equal(t, whole, indexesOf(planned(t, l, parameters)))
	// It is also known where the arguments are not held.
	in := l.input()
	in.State = sessiontest.OutlinedWith(in.State, strategies.OutlineFacts)
	outlined, err := registry().Plan(t.Context(), in, parameters)
	require.NoError(t, err)
	require.Equal(t, whole, indexesOf(outlined))

	// Partial reads are offloaded, too, if the parameters say so. The policy names the tools that read.
	l = newLog().script("U")
	l.used("read", `{"offset":9}`, piece(long))
	require.Len(t, planned(t, l, offloading(&compactordv1.OffloadStrategy{PartialReads: proto.Bool(true)})).GetEdits(), 1)
	l.policy = &compactordv1.Policy{FileTools: &compactordv1.FileTools{Tools: []*compactordv1.FileTool{
		{Names: []string{"slurp"}, PathArguments: []string{"path"}},
	}}}
	require.Len(t, planned(t, l, offloading(nil)).GetEdits(), 1)
}

// The daemon reads no disk. A result stays what it was, and is recalled unchanged. A later read of the changed file is
// another result.
func TestCase223AnOffloadedReadStaysWhatItWas(t *testing.T) {
	t.Parallel()
	then := "package a\n" + strings.Repeat("// one line of it\n", 600)
	now := strings.Replace(then, "package a", "package b", 1)
	l := newLog().script("U")
	first := l.used("read", `{"path":"a.go"}`, piece(then))
	made := planned(t, l, offloading(nil))
	l.commit(made, "")
	shown := shownAt(l, first)
	require.True(t, strings.HasPrefix(shown, "package a\n// one line of it\n"), shown)

	second := l.used("read", `{"path":"a.go"}`, piece(now))
	l.commit(planned(t, l, offloading(nil)), "")
	require.Equal(t, shown, shownAt(l, first), "what was read first is untouched")
	require.Equal(t, then, recalled(t, l, shown))
	require.Equal(t, now, recalled(t, l, shownAt(l, second)))
}

func TestOffloadPreview(t *testing.T) {
	t.Parallel()
	const reference = "[The result of bash has 3000 tokens (12000 bytes) in all. To read the whole of it, recall index 2, part 0.]"
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"at the end of a line near by": {"0123456789\n01234567\n0123", "0123456789\n01234567\n"},
		"in a line that is long":       {"0123456789\n0123456789012345", "0123456789\n012345678\n"},
		"at the very end of a line":    {"0123456789012345678\n", "0123456789012345678\n"},
		"of characters":                {"一二三四五六七八九十一二三四五六七八九十一", "一二三四五六七八九十一二三四五六七八九十\n"},
	} {
		l := newLog().script("U")
		// ASCII letters fill the text up to the same size, so that the reference is the same.
		text := c.text + strings.Repeat("x", 12_000-len(c.text))
		at := l.used("bash", `{}`, piece(text))
		made := planned(t, l, offloading(&compactordv1.OffloadStrategy{OverTokens: proto.Uint32(1), PreviewChars: proto.Uint32(20)}))
		want := c.want
		if name != "of characters" {
			want += reference
			require.Equal(t, want, replacements(made)[at], name)
			continue
		}
		require.True(t, strings.HasPrefix(replacements(made)[at], want), name)
	}
	l := newLog().script("U")
	at := l.used("bash", `{}`, piece(textOf(3000)))
	made := planned(t, l, offloading(&compactordv1.OffloadStrategy{PreviewChars: proto.Uint32(0)}))
	require.Equal(t, reference, replacements(made)[at])
}

// A result that is only long because of its media gets a line for each. Its text is recalled by the part, without the
// media, so each medium has its own reference.
func TestOffloadNamesTheMediaThatItTakesAway(t *testing.T) {
	t.Parallel()
	many := make([]*compactordv1.ResultPart, 22)
	for i := range many {
		many[i] = imagePiece("a.png")
	}
	for name, c := range map[string]struct {
		pieces []*compactordv1.ResultPart
		want   string
	}{
		"beside text": {
			[]*compactordv1.ResultPart{piece("two shots"), imagePiece("a.png"), imagePiece("")},
			"two shots\n[Attached image/png: a.png]\n[Attached image/png: file]\n[The result of shot has 2403 tokens (9 bytes) in " +
				"all, the media #2.0.1, #2.0.2 among them. To read its text, recall index 2, part 0.]",
		},
		"alone": {
			[]*compactordv1.ResultPart{imagePiece("a.png"), imagePiece("b.png")},
			"[Attached image/png: a.png]\n[Attached image/png: b.png]\n[The result of shot has 2400 tokens (0 bytes) in all: the " +
				"media #2.0.0, #2.0.1. To have one, recall it by its number.]",
		},
		"one, as the part itself": {
			[]*compactordv1.ResultPart{imagePiece("a.png")},
			"[Attached image/png: a.png]\n[The result of shot has 1200 tokens (0 bytes) in all. To read the whole of it, recall " +
				"index 2, part 0.]",
		},
		"many": {
			many,
			"[The result of shot has 26400 tokens (0 bytes) in all: the media #2.0.0, #2.0.1, #2.0.2, #2.0.3, #2.0.4, #2.0.5, " +
				"#2.0.6, #2.0.7, #2.0.8, #2.0.9, #2.0.10, #2.0.11, #2.0.12, #2.0.13, #2.0.14, #2.0.15, #2.0.16, #2.0.17, " +
				"#2.0.18, #2.0.19 and 2 more. To have one, recall it by its number.]",
		},
	} {
		l := newLog().script("U")
		at := l.used("shot", `{}`, c.pieces...)
		p := &compactordv1.OffloadStrategy{OverTokens: proto.Uint32(1000)}
		if len(c.pieces) > 3 {
			p.PreviewChars = proto.Uint32(0)
		}
		require.Equal(t, c.want, replacements(planned(t, l, offloading(p)))[at], name)
	}
	l := newLog().script("U")
	l.used("shot", `{}`, imagePiece("a.png"))
	require.Equal(t, image("a.png").GetUri(), recalled(t, l, "index 2, part 0"), "the only piece")
	require.Equal(t, image("a.png").GetUri(), recalled(t, l, "#2.0.0"))
}
