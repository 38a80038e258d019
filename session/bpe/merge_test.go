package bpe

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The merges with a heap and without one are the same.
func FuzzMerge(f *testing.F) {
	for _, piece := range []string{"a", "tokenization", "=========", "aGVsbG8gd29ybGQ", "修复代码🙂", "\xff\x00\xff"} {
		f.Add(piece)
	}
	f.Fuzz(func(t *testing.T, piece string) {
		if piece == "" {
			return
		}
		piece = piece[:min(len(piece), shortBytes)]
		for _, load := range []func() (*Vocabulary, error){O200kBase, Cl100kBase} {
			v, err := load()
			require.NoError(t, err)
			var m merger
			require.Equal(t, m.countShort(v, piece), m.countLong(v, piece), "%q", piece)
		}
	})
}

// The work grows in proportion to the text: for each byte at most two candidates are looked at, whatever the text.
func TestWorkIsLinear(t *testing.T) {
	v, err := O200kBase()
	require.NoError(t, err)
	for _, run := range []string{"a", "=", " ", "\n", "🙂", "ab", "aA", "é", "-=", "\u0301", "中"} {
		largest := 1 << 20
		if testing.Short() {
			largest = 1 << 16
		}
		for size := 1 << 12; size <= largest; size <<= 4 {
			text := strings.Repeat(run, size/len(run))
			var m merger
			m.countLong(v, text)
			require.LessOrEqual(t, m.steps, 3*len(text), "%q, %d bytes", run, len(text))
			require.LessOrEqual(t, cap(m.heap), 8*len(text), "%q, %d bytes", run, len(text))
		}
	}
}

func TestMalformedVocabularies(t *testing.T) {
	var bytes strings.Builder
	for b := range 256 {
		bytes.WriteString("\x01" + string([]byte{byte(b)}))
	}
	_, err := load(bytes.String()+"\x02ab", nextO200k)
	require.NoError(t, err)
	for name, tokens := range map[string]string{
		"nothing":        "",
		"not all bytes":  bytes.String()[2:],
		"empty token":    bytes.String() + "\x00",
		"breaks off":     bytes.String() + "\x02a",
		"length alone":   bytes.String() + "\x01",
		"the same twice": bytes.String() + "\x01a",
	} {
		_, err := load(tokens, nextO200k)
		require.ErrorIs(t, err, ErrVocabulary, name)
	}
}

// The SHA-256 that OpenAI publishes with its tokenizer for each vocabulary file. The file has a line for each token:
// the token in base64, and its rank.
var published = map[string]string{
	o200kTokens:  "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
	cl100kTokens: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}

func TestVocabulariesAreThosePublished(t *testing.T) {
	for tokens, want := range published {
		v, err := load(tokens, nextO200k)
		require.NoError(t, err)
		byRank := make([]string, len(v.ranks))
		for token, rank := range v.ranks {
			byRank[rank] = token
		}
		file := sha256.New()
		for rank, token := range byRank {
			fmt.Fprintf(file, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), rank)
		}
		require.Equal(t, want, hex.EncodeToString(file.Sum(nil)))
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		_, err := load(o200kTokens, nextO200k)
		require.NoError(b, err)
	}
}
