package recall

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// inPieces searches a text by calls whose time is always over, and returns the hit and the number of calls.
func inPieces(t require.TestingT, p *Pattern, text string) (hit *compactordv1.SearchHit, calls int) {
	l := &compactordv1.LoggedMessage{Message: &compactordv1.Message{Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}}
	var from *place
	for calls = 1; ; calls++ {
		work := NewWork(1 << 40).Until(func() bool { return true })
		work.every = stepsPerReport
		hit, stopped, err := Matching(p).findFrom(context.Background(), l, from, 10, work)
		require.NoError(t, err)
		if stopped == nil {
			return hit, calls
		}
		token := stopped.append(nil)
		require.LessOrEqual(t, len(token), 700, "a token has at most 1,024 bytes in base64")
		var ok bool
		from, ok = parsePlace(token)
		require.True(t, ok)
		require.Less(t, calls, 1000, "the search does not go on")
	}
}

// A search that stops again and again within a line finds what package regexp finds.
func TestPiecesOfALine(t *testing.T) {
	const large = "|~{1000}~{600}"
	hay := strings.Repeat("hay é-", 1500)
	for _, expression := range []string{
		`x.*y`, `x.*(y|z)$`, `\bneedle\b`, `^hay.*needle`, `-(\pL+ ?){1,3}needle`, `é-x`, `nowhere`, `x.{3,100}y`, `(x.*)?(y|z)`,
	} {
		p, err := CompilePattern(expression+large, false)
		require.NoError(t, err)
		for _, text := range []string{
			hay, "x" + hay + "y", hay + "x" + hay + "y" + hay, hay + "needle", "hayneedle" + hay, hay + "x" + hay[:200] + "y" + hay,
			hay + "\n" + hay + "needle\n" + hay,
		} {
			var want []int
			offset := 0
			for line := range strings.Lines(text) {
				if at := regexp.MustCompile(expression).FindStringIndex(strings.TrimSuffix(line, "\n")); at != nil {
					want = []int{offset + at[0], offset + at[1]}
					break
				}
				offset += len(line)
			}
			hit, calls := inPieces(t, p, text)
			require.Equal(t, want != nil, hit != nil, "%s in %.10q", expression, text)
			if hit == nil {
				require.Greater(t, calls, 1, "%s in %.10q", expression, text)
				continue
			}
			require.LessOrEqual(t, int(hit.GetOffset()), want[0], "%s in %.10q", expression, text)
			if !strings.Contains(expression, "*") {
				require.Equal(t, want[0], int(hit.GetOffset()), "%s in %.10q", expression, text)
			}
		}
	}
}

// Whatever bytes a client sends in place of a token, a search ends, does not panic, and shows whole characters.
func TestForgedPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := CompilePattern(rapid.SampledFrom([]string{`a.*b|~{1000}~{900}`, "é b"}).Draw(t, "pattern"), false)
		require.NoError(t, err)
		var token []byte
		if rapid.Bool().Draw(t, "exists") {
			// A place in the text, with instructions that the expression may not have.
			token = append(token, 0, 0, byte(rapid.IntRange(0, 6).Draw(t, "at")), byte(rapid.IntRange(0, 2).Draw(t, "start")))
		}
		token = append(token, rapid.SliceOfN(rapid.Byte(), 0, 260).Draw(t, "rest")...)
		from, ok := parsePlace(token)
		if !ok {
			return
		}
		l := &compactordv1.LoggedMessage{Message: &compactordv1.Message{Parts: []*compactordv1.Part{
			{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "é a\nb a é b"}}},
		}}}
		hit, _, err := Matching(p).findFrom(t.Context(), l, from, 10, NewWork(1<<30))
		if err != nil {
			require.ErrorIs(t, err, ErrPageToken)
		}
		require.True(t, utf8.ValidString(hit.GetSnippet()))
	})
}

// A place is never within a character.
func TestForgedPlaceWithinACharacter(t *testing.T) {
	p, err := CompilePattern(`.*b`, false)
	require.NoError(t, err)
	texts := []searchedPlace{{text: "é b"}}
	for at := range 5 {
		for start := range at + 1 {
			from := &place{paused: &paused{at: at, start: start}}
			require.Equal(t, at != 1 && start != 1, from.within(texts, p), "%d, %d", start, at)
		}
	}
}
