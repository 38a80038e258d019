package recall_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/session/sessiontest"
)

func pattern(t require.TestingT, expression string) *recall.Pattern {
	p, err := recall.CompilePattern(expression, false)
	require.NoError(t, err)
	return p
}

// A large expression cannot match long lines in one step.
const large = "|~{1000}"

// Lines too long to match in one step are matched too.
func TestPatternsFindTheSameInLongLines(t *testing.T) {
	padding := strings.Repeat("é- ", 2000)
	for _, expression := range []string{
		`ab`, `^a`, `b$`, `\bab\b`, `a.*b`, `a.*?b`, `(a|ab)(c|bcd)?`, `^$`, `\x{e9}`, `(?i)AB`, `nowhere`, `x*`, `ab(.*z)?`, `-\z`,
	} {
		for _, line := range []string{
			padding + "ab", "ab" + padding, padding + "abcd" + padding, "a" + padding + "b", padding, padding + "\rab",
		} {
			want := regexp.MustCompile(expression + large).FindStringIndex(line)
			hit := hitIn(t, recall.Matching(pattern(t, expression+large)), said(line+"\r\nend"), 4000)
			if want == nil {
				require.Nil(t, hit, "%s in %.9q", expression, line)
				continue
			}
			require.NotNil(t, hit, "%s in %.9q", expression, line)
			require.Equal(t, want[0], int(hit.GetOffset()), "%s in %.9q", expression, line)
			shown := hit.GetSnippet()[hit.GetMatchStart():hit.GetMatchEnd()]
			require.True(t, strings.HasPrefix(line[want[0]:want[1]], shown), "%s in %.9q", expression, line)
			if want[1]-want[0] < 1000 {
				require.Equal(t, line[want[0]:want[1]], shown)
			}
		}
	}
	require.NotNil(t, hitIn(t, recall.Matching(pattern(t, "prefix~{1000}|prefix")), said(padding+"prefix"), 9))
	require.Nil(t, hitIn(t, recall.Matching(pattern(t, "prefix~{1000}|prefix")), said(padding+"prefi"), 9))
}

// An expression matches within lines, and matching lines are counted.
func TestPatternsMatchLines(t *testing.T) {
	text := "one two two\r\n\r\ntwo\nthree\ntwo"
	for expression, want := range map[string]struct {
		offset, line, matches uint32
	}{
		"two":          {4, 1, 3},
		"two$":         {8, 1, 3},
		"^two":         {15, 3, 2},
		"^$":           {13, 2, 1},
		"(?s)e.*":      {2, 1, 2},
		`[^t]`:         {0, 1, 4},
		"(?m)^th":      {19, 4, 1},
		"\\Atwo\\z":    {15, 3, 2},
		"(two)?":       {0, 1, 5},
		"e( two)?(.*)": {2, 1, 2},
	} {
		hit := hitIn(t, recall.Matching(pattern(t, expression)), said(text), 10)
		require.NotNil(t, hit, expression)
		require.Equal(t, fmt.Sprint(want), fmt.Sprintf("{%d %d %d}", hit.GetOffset(), hit.GetLine(), hit.GetMatches()), expression)
	}
	for _, expression := range []string{`\n`, `\r`, `(?s)one.*three`, `two\s+three`} {
		require.Nil(t, hitIn(t, recall.Matching(pattern(t, expression)), said(text), 10), expression)
	}
}

// An expression whose match grows with the text does not take time proportional to the number of matches times the
// text.
func TestMatchingTakesLinearTime(t *testing.T) {
	for _, expression := range []string{`error(.*timeout)?` + large, `(?s)a.*b|a` + large, `(?:a?){300}[^a]`} {
		for _, text := range []string{strings.Repeat("error a ", 4<<10), strings.Repeat("error a\n", 4<<10)} {
			work := plenty()
			before := work.Left()
			_, err := recall.Matching(pattern(t, expression)).Find(t.Context(), said(text), 10, work)
			require.NoError(t, err)
			require.Less(t, before-work.Left(), 2*len(text)*2000, expression)
		}
	}
}

// A search ends soon after its context, for every query and text.
func TestSearchEndsWithItsContext(t *testing.T) {
	texts := map[string]string{
		"a long line": strings.Repeat("a", 8<<20), "many lines": strings.Repeat("aaaaaaaaaaaaaaa\n", 1<<19),
	}
	for name, text := range texts {
		for what, q := range map[string]*recall.Query{
			"words":    recall.Words([]string{strings.Repeat("a", 20) + "b"}),
			"found":    recall.Words([]string{"a"}),
			"pattern":  recall.Matching(pattern(t, `(?:a?){300}[^a]`)),
			"optional": recall.Matching(pattern(t, `a(.*b)?`)),
		} {
			if what == "found" || what == "optional" && name == "many lines" {
				continue // A thousand matches are soon found.
			}
			ctx, work := sessiontest.EndsAfter(2), plenty()
			before := work.Left()
			hit, err := q.Find(ctx, said(text), 10, work)
			require.ErrorIs(t, err, sessiontest.ErrEnough, "%s in %s", what, name)
			require.Nil(t, hit)
			require.LessOrEqual(t, before-work.Left(), 13<<20, "%s in %s", what, name)
		}
		ctx, work := sessiontest.EndsAfter(2), plenty()
		before := work.Left()
		m, err := recall.MatchLines(ctx, text, pattern(t, `(?:a?){300}[^a]`), 1, 0, 1000, work)
		require.ErrorIs(t, err, sessiontest.ErrEnough, name)
		require.Nil(t, m)
		require.LessOrEqual(t, before-work.Left(), 13<<20, name)
	}
}

func TestPatternErrors(t *testing.T) {
	for expression, text := range map[string]string{"a(": "missing closing )", "a{1000}b{1000}": "2002 steps once"} {
		_, err := recall.CompilePattern(expression, false)
		require.ErrorContains(t, err, text)
	}
	for _, secret := range []string{"s3cret(", `s3cret\1`, "s3cret[z-a]", "s3cret**", "s3cret{2000}"} {
		_, err := recall.CompilePattern(secret, true)
		require.Error(t, err, secret)
		require.NotContains(t, err.Error(), "s3cret", "errors are logged, and expressions quote conversations")
	}
	_, err := recall.CompilePattern("k{1000}s{990}", true)
	require.NoError(t, err)
	p, err := recall.CompilePattern("k", true)
	require.NoError(t, err)
	require.Equal(t, uint32(2), hitIn(t, recall.Matching(p), said("K\n\u212a"), 9).GetMatches())
}
