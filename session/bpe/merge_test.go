package bpe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// With a heap and without, the merges are the same.
func FuzzMerge(f *testing.F) {
	for _, piece := range []string{"a", "tokenization", "=========", "aGVsbG8gd29ybGQ", "修复代码🙂", "\xff\x00\xff"} {
		f.Add(piece)
	}
	f.Fuzz(func(t *testing.T, piece string) {
		if piece == "" {
			return
		}
		piece = piece[:min(len(piece), fewBytes)]
		for _, load := range []func() (*Vocabulary, error){O200kBase, Cl100kBase} {
			v, err := load()
			require.NoError(t, err)
			var m merger
			require.Equal(t, m.few(v, piece), m.many(v, piece), "%q", piece)
		}
	})
}

// The work grows as the text does: a merge is looked at for no more than twice each byte, whatever the text.
func TestWorkIsLinear(t *testing.T) {
	v, err := O200kBase()
	require.NoError(t, err)
	for _, run := range []string{"a", "=", " ", "\n", "🙂", "ab", "aA", "é", "-=", "\u0301", "中"} {
		largest := 1 << 20
		if testing.Short() && run != "=" {
			largest = 1 << 16
		}
		for size := 1 << 12; size <= largest; size <<= 4 {
			text := strings.Repeat(run, size/len(run))
			var m merger
			m.many(v, text)
			require.LessOrEqual(t, m.steps, 3*len(text), "%q, %d bytes", run, len(text))
			require.LessOrEqual(t, cap(m.heap), 8*len(text), "%q, %d bytes", run, len(text))
		}
	}
}

func TestMalformedVocabularies(t *testing.T) {
	for _, content := range []string{"", "YQ==", "YQ== x\n", "!!! 1\n", "YQ== 1\n"} {
		_, err := parse([]byte(content), nextO200k)
		require.ErrorIs(t, err, ErrVocabulary, "%q", content)
	}
}
