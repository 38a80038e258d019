package extractive_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/extractive"
)

// Words are counted as if each character were looked at by itself.
func TestContentIsCountedCharacterByCharacter(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"ok", "go ahead", "Thanks", "table", "i'm", "a_b/c-d.e", "don’t", "é", "Straße", "٣", "x2", "7", " ", ".", "!", "`", "'", "-", "\n",
		"好的", "没问题", "看起来不错", "表", "テスト", "はい", "네", "界", "、", "\xff", "\xe5",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		most := rapid.IntRange(0, 6).Draw(t, "most")
		require.Equal(t, contentOf(text, most), extractive.ContentUpTo(text, most), "%q", text)
	})
}

// contentOf counts the words of a text that are not nod words, up to about most.
func contentOf(s string, most int) int {
	words, ideographs := 0, 0
	within := false
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		joins := unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("_-/.'’", r)
		if within = within && joins && !extractive.IsCJK(r); !within {
			if words+(ideographs+1)/2 >= most {
				break
			}
			if nod := extractive.NodAt(s); nod > 0 && (r < utf8.RuneSelf || nod >= 6) {
				s = s[nod:]
				continue
			}
			switch {
			case extractive.IsCJK(r) && unicode.IsLetter(r):
				ideographs++
			case extractive.IsCJK(r):
			case unicode.IsLetter(r) || unicode.IsNumber(r):
				words++
				within = true
			}
		}
		s = s[size:]
	}
	return words + (ideographs+1)/2
}
