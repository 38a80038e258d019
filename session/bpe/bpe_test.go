package bpe_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session/bpe"
)

func o200k(t testing.TB) *bpe.Vocabulary {
	t.Helper()
	v, err := bpe.O200kBase()
	require.NoError(t, err)
	return v
}

func cl100k(t testing.TB) *bpe.Vocabulary {
	t.Helper()
	v, err := bpe.Cl100kBase()
	require.NoError(t, err)
	return v
}

// These counts are published in the reference's cookbook on counting.
func TestPublishedCounts(t *testing.T) {
	for text, want := range map[string]int{"antidisestablishmentarianism": 6, "2 + 2 = 4": 7, "お誕生日おめでとう": 9} {
		require.Equal(t, want, cl100k(t).Count(text), text)
	}
	for text, want := range map[string]int{"antidisestablishmentarianism": 6, "2 + 2 = 4": 7, "お誕生日おめでとう": 8} {
		require.Equal(t, want, o200k(t).Count(text), text)
	}
}

// The table has the counts of the reference, tiktoken 0.14.
func TestCountsAreTheReferences(t *testing.T) {
	for _, c := range reference {
		require.Equal(t, c.o200k, o200k(t).Count(c.text), "o200k_base of %.60q", c.text)
		require.Equal(t, c.cl100k, cl100k(t).Count(c.text), "cl100k_base of %.60q", c.text)
	}
}

func TestSpecialTokensAreText(t *testing.T) {
	require.Greater(t, o200k(t).Count("<|endoftext|>"), 1)
	require.Greater(t, cl100k(t).Count("<|im_start|>"), 1)
}

func TestManyAtOnce(t *testing.T) {
	v, text := o200k(t), strings.Repeat("many at once, ", 100)+strings.Repeat("=", 1000)
	want := v.Count(text)
	var all sync.WaitGroup
	counts := make([]int, 8)
	for i := range counts {
		all.Go(func() { counts[i] = v.Count(text) })
	}
	all.Wait()
	for _, got := range counts {
		require.Equal(t, want, got)
	}
}

// A piece of many megabytes takes no more memory than the longest piece.
func TestPiecesBeyondTheBound(t *testing.T) {
	require.Equal(t, 3*16384+1, o200k(t).Count(strings.Repeat("=", 3<<20+1)))
}

// Messages cannot contain invalid UTF-8, but it is counted anyway.
func TestBytesThatAreNoText(t *testing.T) {
	for _, text := range []string{"\xff", "a\xc3", "\xed\xa0\x80", strings.Repeat("\xf0\x9f", 500)} {
		require.Positive(t, o200k(t).Count(text))
		require.LessOrEqual(t, o200k(t).Count(text), len(text))
	}
}

func FuzzCount(f *testing.F) {
	for _, c := range reference {
		if len(c.text) < 1000 {
			f.Add(c.text, " 's1\n")
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, v := range []*bpe.Vocabulary{o200k(t), cl100k(t)} {
			na, both := v.Count(a), v.Count(a+b)
			require.LessOrEqual(t, both, len(a)+len(b), "a token is at least one byte")
			require.GreaterOrEqual(t, both*longestToken, len(a)+len(b), "and at most so many")
			require.Equal(t, na, v.Count(a), "the same each time")
			// In both encodings a piece ends where a number follows a letter.
			require.Equal(t, v.Count(a+"x")+v.Count("1"), v.Count(a+"x1"))
		}
	})
}

// longestToken is the length in bytes of the longest token of both encodings.
const longestToken = 128

// The counts of recorded conversations are the reference's. The table finds them by their digests.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	table, err := os.ReadFile(filepath.Join("testdata", "corpus_counts.tsv"))
	require.NoError(t, err)
	want := make(map[string]string)
	for line := range strings.Lines(string(table)) {
		digest, counts, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want[digest] = counts
	}
	compared, seen := 0, 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll
		}
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		if seen++; testing.Short() && seen%20 != 0 {
			return nil
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		digest := sha256.Sum256(content)
		if counts, known := want[hex.EncodeToString(digest[:])[:16]]; known {
			compared++
			require.Equal(t, counts, fmt.Sprintf("%d\t%d", o200k(t).Count(string(content)), cl100k(t).Count(string(content))), path)
		}
		return nil
	}))
	if compared == 0 {
		t.Skip("no recorded conversations: set COMPACTORD_CORPUS to their directory")
	}
	if !testing.Short() {
		require.Len(t, want, compared, "a recorded conversation has changed")
	}
}

func BenchmarkCount(b *testing.B) {
	code := strings.Repeat("func (s *State) Tokens(index uint32) (uint32, error) {\n\tif s == nil {\n\t\treturn 0, nil\n\t}\n}\n", 1000)
	for _, c := range []struct{ name, text string }{
		{"code", code},
		{"CJK", strings.Repeat("为了统计用量，我们只在写入时计算一次。", 2000)},
		{"base64", strings.Repeat("aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0", 3000)},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.text) })
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, alphabet := range map[string][]rune{"letters": []rune("abcdefghijklmnopqrstuvwxyz"), "ideographs": []rune("为了统计用量我们只在写入时计算一次修复代码的中文文字")} {
		b.Run("long run of "+name, func(b *testing.B) {
			var text strings.Builder
			for range 1 << 16 {
				text.WriteRune(alphabet[random.IntN(len(alphabet))])
			}
			benchmark(b, text.String())
		})
	}
	for _, one := range []string{"a", "=", " ", "\n", "🙂"} {
		for size := 1 << 18; size <= 1<<20; size *= 2 {
			b.Run(fmt.Sprintf("run of %q/%d", one, size), func(b *testing.B) {
				benchmark(b, strings.Repeat(one, size/len(one)))
			})
		}
	}
}

func benchmark(b *testing.B, text string) {
	b.Helper()
	v := o200k(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		v.Count(text)
	}
}
