package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func maxChars(n uint32) *compactordv1.Strategy {
	return truncating(&compactordv1.TruncateToolOutputsStrategy{
		MaxChars: proto.Uint32(n), Placeholder: proto.String("[-{omitted}]"),
	})
}

// opencode keeps 2,000 characters. Of 2,001 it keeps the first 2,000, with a mark that 1 is left out. Ours makes no
// edit that frees nothing: opencode's mark is longer than a character, so 2,001 stay, too.
func TestTruncateToTwoThousandCharacters(t *testing.T) {
	t.Parallel()
	parameters := truncating(&compactordv1.TruncateToolOutputsStrategy{
		Placeholder: proto.String("[Tool output truncated: omitted {omitted} chars]"),
	})
	l := newLog().script("U")
	l.used("bash", `{}`, piece(strings.Repeat("x", 2000)))
	barely := l.used("bash", `{}`, piece(strings.Repeat("x", 2001)))
	long := l.used("bash", `{}`, piece(strings.Repeat("x", 2100)))
	made := planned(t, l, parameters)
	require.Equal(t, map[uint32]string{
		long: strings.Repeat("x", 2000) + "\n[Tool output truncated: omitted 100 chars]",
	}, replacements(made), "%d would grow", barely)
	requireConverged(t, l, made, parameters)

	// With a mark that is short enough, one character is cut off.
	l = newLog().script("U")
	l.used("bash", `{}`, piece(strings.Repeat("好", 2000)))
	wide := l.used("bash", `{}`, piece(strings.Repeat("好", 2000)+"👍"), imagePiece("a.png"))
	made = planned(t, l, truncating(&compactordv1.TruncateToolOutputsStrategy{Placeholder: proto.String("[omitted {omitted}]")}))
	require.Equal(t, map[uint32]string{
		wide: strings.Repeat("好", 2000) + "\n[Attached image/png: a.png] #4.0.1\n[omitted 1]",
	}, replacements(made))
}

func TestTruncatedResultTellsHowToHaveTheRest(t *testing.T) {
	t.Parallel()
	l := newLog().script("U")
	text := "first line\n" + strings.Repeat("x", 5000)
	at := l.used("bash", `{}`, piece(text))
	shown := replacements(planned(t, l, truncating(nil)))[at]
	require.Equal(t, text[:2000]+"\n[3011 characters left out. To read the whole result, recall index 2, part 0.]", shown)
	require.Equal(t, text, recalled(t, l, shown))
}

// Characters are code points, and none is cut in half. Pieces are joined; media among them keep their lines.
func TestTruncateCountsCharactersOverAllPieces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []*compactordv1.ResultPart
		want   string
	}{
		"as long as allowed": {[]*compactordv1.ResultPart{piece("日本語"), piece(strings.Repeat("é", 7))}, ""},
		"in the second":      {[]*compactordv1.ResultPart{piece("日本語"), piece(strings.Repeat("é", 47))}, "日本語\nééééééé\n[-40]"},
		"behind the first": {
			[]*compactordv1.ResultPart{piece("0123456789"), piece(strings.Repeat("é", 47))}, "0123456789\n[-47]",
		},
		"media count nothing": {
			[]*compactordv1.ResultPart{imagePiece("a.png"), piece(strings.Repeat("日", 47)), imagePiece("")},
			"[Attached image/png: a.png] #2.0.0\n日日日日日日日日日日\n[Attached image/png: file] #2.0.2\n[-37]",
		},
	} {
		l := newLog().script("U")
		at := l.used("bash", `{}`, c.pieces...)
		require.Equal(t, c.want, replacements(planned(t, l, maxChars(10)))[at], name)
	}
}

// The end of a result stays after the mark. What the beginning and the end leave out is counted once.
func TestTruncateKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []*compactordv1.ResultPart
		want   string
	}{
		"as long as allowed": {[]*compactordv1.ResultPart{piece(strings.Repeat("x", 10) + "12345")}, ""},
		"one piece": {
			[]*compactordv1.ResultPart{piece("0123456789" + strings.Repeat("x", 40) + "好2345")}, "0123456789\n[-40]\n好2345",
		},
		"pieces": {
			[]*compactordv1.ResultPart{piece("0123456789"), imagePiece("a.png"), piece(strings.Repeat("x", 40)), piece("45")},
			"0123456789\n[Attached image/png: a.png] #2.0.1\n[-37]\nxxx\n45",
		},
		"the beginning has all of the last piece": {
			[]*compactordv1.ResultPart{piece("0123"), piece(strings.Repeat("x", 46) + "ab")}, "0123\nxxxxxx\n[-37]\nxxxab",
		},
	} {
		parameters := maxChars(10)
		parameters.GetTruncateToolOutputs().TailChars = proto.Uint32(5)
		l := newLog().script("U")
		at := l.used("bash", `{}`, c.pieces...)
		made := planned(t, l, parameters)
		require.Equal(t, c.want, replacements(made)[at], name)
		if c.want != "" {
			requireConverged(t, l, made, parameters)
		}
	}
}

func TestTruncateLeavesAlone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	parameters := truncating(&compactordv1.TruncateToolOutputsStrategy{
		MaxChars: proto.Uint32(10), ProtectedTools: []string{"skill"},
	})
	l := newLog().script("U")
	l.used("skill", `{}`, piece(long))
	l.used("recall_content", `{}`, piece(long))
	l.used("bash", `{}`, piece("short"))
	pinned := l.used("bash", `{}`, piece(long))
	l.pin(pinned)
	hidden := l.used("bash", `{}`, piece(long))
	l.commit(&plan{Edits: []*compactordv1.Edit{{
		Index: hidden, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]",
	}}}, "")
	failed := l.failed("bash", `{}`, long)
	// One of the parallel calls has no result yet, so the model has not read the other's.
	l.script("T:a,b")
	l.add(&compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{resultPart("a", long)},
	})
	made := planned(t, l, parameters)
	require.Equal(t, []uint32{failed}, indexesOf(made))

	l.script("R10:b")
	require.Equal(t, []uint32{failed, failed + 2}, indexesOf(planned(t, l, parameters)))
}

// The newest groups keep their whole results.
func TestTruncateLeavesTheNewestGroups(t *testing.T) {
	t.Parallel()
	l := newLog().script("U")
	at := l.used("bash", `{}`, piece(strings.Repeat("a", 300)), piece(strings.Repeat("好", 300)))
	barely := l.used("bash", `{}`, piece(strings.Repeat("x", 30)))
	l.used("bash", `{}`, piece(strings.Repeat("z", 900)))
	parameters := truncating(&compactordv1.TruncateToolOutputsStrategy{
		MaxChars: proto.Uint32(20), TailChars: proto.Uint32(10), KeepGroups: proto.Uint32(1), Placeholder: proto.String("[-{omitted}]"),
	})
	made := planned(t, l, parameters)
	require.Equal(t, map[uint32]string{
		at: strings.Repeat("a", 20) + "\n[-570]\n" + strings.Repeat("好", 10),
	}, replacements(made), "%d has nothing between its beginning and its end", barely)
	requireConverged(t, l, made, parameters)
}
