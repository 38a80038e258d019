package bpe

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The tokens are the same in windows and as a whole, by a tournament and by comparing all pairs.
func FuzzMerge(f *testing.F) {
	for _, piece := range []string{"a", "tokenization", "=========", "aGVsbG8gd29ybGQ", "修复代码🙂", "\xff\x00\xff"} {
		f.Add(piece, 1)
		f.Add(piece, 100)
	}
	f.Fuzz(func(t *testing.T, piece string, times int) {
		if piece == "" {
			return
		}
		piece = strings.Repeat(piece, 1+max(times, 0)%500)
		piece = piece[:min(len(piece), 1<<12)]
		for _, load := range []func() (*Vocabulary, error){O200kBase, Cl100kBase} {
			v, err := load()
			require.NoError(t, err)
			requireSameMerges(t, v, piece)
		}
	})
}

func requireSameMerges(t *testing.T, v *Vocabulary, piece string) {
	t.Helper()
	windows, whole := merger{vocabulary: v}, merger{vocabulary: v}
	whole.mergeLong(piece)
	require.Equal(t, len(whole.ends), windows.countWindows(piece), "%q", piece)
	require.Equal(t, whole.ends, windows.settled, "%q", piece)
	if len(piece) <= shortBytes {
		windows.mergeShort(piece)
		require.Equal(t, whole.ends, windows.ends, "%q", piece)
	}
}

// Runs of few characters are where tokens that windows cut differ most from those of the whole.
func TestWindowsMergeAsTheWhole(t *testing.T) {
	v, err := O200kBase()
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"ab", "=-", "etaoin", "0aA", "中文字", " \n\t", "aé🙂"}).Draw(t, "alphabet")
		piece := ""
		for range rapid.IntRange(1, 20).Draw(t, "runs") {
			run := rapid.StringOfN(rapid.RuneFrom([]rune(alphabet)), 1, 12, -1).Draw(t, "run")
			piece += strings.Repeat(run, rapid.SampledFrom([]int{1, 2, 16, 63, 64, 65, 129}).Draw(t, "times"))
		}
		windows, whole := merger{vocabulary: v}, merger{vocabulary: v}
		whole.mergeLong(piece)
		windows.countWindows(piece)
		require.Equal(t, whole.ends, windows.settled)
	})
}

// The work grows in proportion to the text: each byte is merged a few times, whatever the text.
func TestWorkIsLinear(t *testing.T) {
	v, err := O200kBase()
	require.NoError(t, err)
	for _, run := range []string{"a", "=", " ", "\n", "🙂", "ab", "aA", "é", "-=", "\u0301", "中", "abcdefg"} {
		largest := 1 << 20
		if testing.Short() {
			largest = 1 << 16
		}
		for size := 1 << 12; size <= largest; size <<= 4 {
			text := strings.Repeat(run, size/len(run))
			m := merger{vocabulary: v}
			m.countWindows(text)
			require.LessOrEqual(t, m.merged, 3*len(text), "%q, %d bytes", run, len(text))
			require.LessOrEqual(t, len(m.candidates.nodes), 1<<10, "%q, %d bytes", run, len(text))
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
		file := sha256.New()
		for rank, rest := 0, tokens; rest != ""; rank++ {
			token := rest[1 : 1+rest[0]]
			rest = rest[1+len(token):]
			require.Equal(t, uint32(rank), v.rank(token))
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
