package recall_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// plenty is more work than any test needs.
func plenty() *recall.Work { return recall.NewWork(1 << 40) }

func hitIn(t require.TestingT, q *recall.Query, l *compactordv1.LoggedMessage, snippetChars int) *compactordv1.SearchHit {
	hit, err := q.Find(context.Background(), l, snippetChars, plenty())
	require.NoError(t, err)
	return hit
}

func said(text string) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Index: 3, Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart(text)},
	}}
}

// Words are found where a regular expression that ignores case finds them, in every script and case. The texts have few
// different letters, so that words also begin within themselves.
func TestWordsAreFoundWhateverTheCase(t *testing.T) {
	join := func(pieces []string) string { return strings.Join(pieces, "") }
	for _, letters := range [][]string{
		{"a", "A", "b", "k", "K", "\u212A", "s", "ſ", "ß", "ẞ", "é", "É", "σ", "ς", "Σ", "語", "😀", "-", " "},
		{"a", "A", "b"},
	} {
		letter := rapid.SampledFrom(letters)
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.Map(rapid.SliceOfN(letter, 20, 60), join).Draw(t, "text")
			word := strings.ReplaceAll(rapid.Map(rapid.SliceOfN(letter, 2, 6), join).Draw(t, "word"), " ", "x")
			requireFound(t, text, word)
		})
	}
}

func requireFound(t *rapid.T, text, word string) {
	want := regexp.MustCompile("(?i)"+regexp.QuoteMeta(word)).FindAllStringIndex(text, -1)
	hit := hitIn(t, recall.Words([]string{word}), said(text), 100)
	if want == nil {
		require.Nil(t, hit)
		return
	}
	require.NotNil(t, hit, "%q in %q", word, text)
	require.Equal(t, want[0][0], int(hit.GetOffset()))
	require.Equal(t, text[want[0][0]:want[0][1]], hit.GetSnippet()[hit.GetMatchStart():hit.GetMatchEnd()])
	require.Len(t, want, int(hit.GetMatches()))
}

func TestAllWordsAreNeeded(t *testing.T) {
	l := sessiontest.EveryKind()
	for words, found := range map[string]bool{
		"first":               true,
		"FIRST second":        true,
		"second path read":    true,
		"hm a.png file-1":     true,
		"first missing":       false,
		`"X":1 HTTP://HOST`:   true,
		"irst":                true,
		"first\nsecond third": false,
	} {
		hit := hitIn(t, recall.Words(strings.Fields(words)), l, 10)
		require.Equal(t, found, hit != nil, words)
	}
	hit := hitIn(t, recall.Words([]string{"second", "path", "hm"}), l, 10)
	require.Equal(t, uint32(1), hit.GetPart(), "the first of the matches in the order of the message")
	require.Equal(t, compactordv1.ContentKind_CONTENT_KIND_THINKING, hit.GetKind())
	require.Equal(t, uint32(3), hit.GetMatches())
	hit = hitIn(t, recall.Words([]string{"second", "first"}), said("a first second"), 100)
	require.Equal(t, uint32(2), hit.GetOffset(), "of several words the one that stands first")
}

func TestFindReturnsThePlace(t *testing.T) {
	l := resultOf(pieceOf("nothing"), pieceOf("line one\nline two: here it is\nline three, here"))
	hit := hitIn(t, recall.Matching(pattern(t, "here")), l, 9)
	require.Equal(t, "o: here i", hit.GetSnippet())
	require.Equal(t, "here", hit.GetSnippet()[hit.GetMatchStart():hit.GetMatchEnd()])
	hit.Snippet, hit.MatchStart, hit.MatchEnd = "", 0, 0
	require.True(t, proto.Equal(&compactordv1.SearchHit{
		Index: 8, Part: 0, ResultPart: proto.Uint32(1), Kind: compactordv1.ContentKind_CONTENT_KIND_RESULT,
		Role: compactordv1.Role_ROLE_TOOL, Tool: "read", Offset: 19, Line: 2, Matches: 2,
	}, hit), "%v", hit)

	hit = hitIn(t, recall.Words([]string{"READ"}), sessiontest.EveryKind(), 100)
	require.Equal(t, uint32(2), hit.GetPart())
	require.Equal(t, "read", hit.GetSnippet())
	require.Zero(t, hit.GetLine(), "in the name of the tool")
	hit = hitIn(t, recall.Words([]string{".png"}), sessiontest.EveryKind(), 100)
	require.Equal(t, uint32(3), hit.GetPart())
	require.Equal(t, compactordv1.ContentKind_CONTENT_KIND_MEDIA, hit.GetKind())
	require.Zero(t, hit.GetLine())
}

func TestMatchesAreCountedUpToALimit(t *testing.T) {
	for _, q := range []*recall.Query{
		recall.Words([]string{"a"}), recall.Matching(pattern(t, "a\\b")), recall.Words([]string{"a", "b"}),
	} {
		l := said("b" + strings.Repeat("a \n", 700))
		require.GreaterOrEqual(t, hitIn(t, q, l, 10).GetMatches(), uint32(700))
		require.LessOrEqual(t, hitIn(t, q, l, 10).GetMatches(), uint32(701))
		l.Message.Parts = append(l.Message.Parts, session.TextPart(strings.Repeat("a \n", 700)))
		require.Equal(t, uint32(recall.MaxCountedMatches), hitIn(t, q, l, 10).GetMatches())
	}
	hit := hitIn(t, recall.Words([]string{"a", "b"}), said("b"+strings.Repeat("a", 3000)), 10)
	require.Zero(t, hit.GetOffset(), "the first match is found though others fill the count")
}

// Snippets are as long as possible, have whole characters, and contain the match.
func TestSnippets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		chars := rapid.IntRange(1, 40).Draw(t, "chars")
		re := regexp.MustCompile(`x[^x\r\n]?`)
		at := re.FindStringIndex(text)
		hit := hitIn(t, recall.Matching(pattern(t, re.String())), said(text), chars)
		if at == nil {
			require.Nil(t, hit)
			return
		}
		require.True(t, utf8.ValidString(hit.GetSnippet()))
		require.Equal(t, min(chars, utf8.RuneCountInString(text)), utf8.RuneCountInString(hit.GetSnippet()))
		match := text[at[0]:at[1]]
		shown := hit.GetSnippet()[hit.GetMatchStart():hit.GetMatchEnd()]
		require.True(t, strings.HasPrefix(match, shown))
		require.Equal(t, min(chars, utf8.RuneCountInString(match)), utf8.RuneCountInString(shown))
		require.True(t, strings.HasPrefix(text[at[0]-int(hit.GetMatchStart()):], hit.GetSnippet()))
	})
}

// A text of one letter, and a word of that letter with another end, do not take time proportional to their product.
func TestSearchTakesLinearTime(t *testing.T) {
	text := strings.Repeat("a", 4<<20)
	work := recall.NewWork(4 << 20)
	word := strings.Repeat("a", 1000) + "b"
	hit, err := recall.Words([]string{word}).Find(t.Context(), said(text), 10, work)
	require.NoError(t, err)
	require.Nil(t, hit)
	require.Zero(t, work.Left(), "each byte is looked at once")
}
