package recall

import (
	"context"
	"unicode"
	"unicode/utf8"
)

// foldedWord finds a word in texts in upper or lower case, by Unicode's simple folding. Its time is linear in the text.
type foldedWord struct {
	runes []rune
	// fallback has, for each number of runes that have matched, how many of the last ones still match when the next
	// rune does not.
	fallback []int
}

func newFoldedWord(word string) *foldedWord {
	w := &foldedWord{}
	for _, r := range word {
		w.runes = append(w.runes, foldCase(r))
	}
	w.fallback = make([]int, len(w.runes)+1)
	for i, matched := 1, 0; i < len(w.runes); i++ {
		for matched > 0 && w.runes[i] != w.runes[matched] {
			matched = w.fallback[matched]
		}
		if w.runes[i] == w.runes[matched] {
			matched++
		}
		w.fallback[i+1] = matched
	}
	return w
}

// bytesPerCheck is the number of bytes searched for a word before they are counted as work.
const bytesPerCheck = 64 << 10

// find returns the first occurrence of the word at or after a byte of the text; false where there is none. It takes one
// step for each byte, and returns the context's error.
func (w *foldedWord) find(ctx context.Context, text string, from int, work *Work) (span, bool, error) {
	matched, counted := 0, from
	for at := from; at < len(text); {
		if at-counted >= bytesPerCheck {
			if err := work.spend(ctx, at-counted); err != nil {
				return span{}, false, err
			}
			counted = at
		}
		r, width := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[at:])
		}
		at += width
		r = foldCase(r)
		for matched > 0 && w.runes[matched] != r {
			matched = w.fallback[matched]
		}
		if w.runes[matched] == r {
			matched++
		}
		if matched == len(w.runes) {
			return span{back(text, at, matched), at}, true, work.spend(ctx, at-counted)
		}
	}
	return span{}, false, work.spend(ctx, len(text)-counted)
}

// back returns the position this many characters before another.
func back(text string, at, characters int) int {
	for range characters {
		_, width := utf8.DecodeLastRuneInString(text[:at])
		at -= width
	}
	return at
}

// The scripts in this range have no case, and a lookup in Unicode's tables is slow.
const firstCaseless, afterCaseless = 0x2E80, 0xA640

// foldCase returns the lowest of the characters that differ from this one only in case.
func foldCase(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case r < utf8.RuneSelf, firstCaseless <= r && r < afterCaseless:
		return r
	}
	lowest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		lowest = min(lowest, next)
	}
	return lowest
}
