package recall

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Two characters fold to the same one exactly where they differ only in case, by Unicode's simple folding.
func TestFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		next := unicode.SimpleFold(r)
		if foldCase(r) != foldCase(next) {
			require.Fail(t, "folds apart", "%U and %U", r, next)
		}
		if f := foldCase(r); f != r && !foldsTo(r, f) {
			require.Fail(t, "folds to another letter", "%U to %U", r, f)
		}
	}
}

func foldsTo(r, f rune) bool {
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		if next == f {
			return true
		}
	}
	return false
}
