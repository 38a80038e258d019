package recall

import (
	"context"
	"unicode"
	"unicode/utf8"
)

// foldedWord finds a word in texts, whatever the case, by Unicode's simple folding. It takes time linear in the text.
type foldedWord struct {
	runes []rune
	// fallback says, for each count of runes that have matched, how many of the last ones still do when the next does not.
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

// glance is how many bytes of a text are looked at for a word before they count as work.
const glance = 64 << 10

// find returns where the word first stands at or after a byte of the text; false where it does not. It takes a step for
// each byte, and returns the context's error.
func (w *foldedWord) find(ctx context.Context, text string, from int, work *Work) (span, bool, error) {
	matched, counted := 0, from
	for at := from; at < len(text); {
		if at-counted >= glance {
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

// back is the byte so many characters before another.
func back(text string, at, characters int) int {
	for range characters {
		_, width := utf8.DecodeLastRuneInString(text[:at])
		at -= width
	}
	return at
}

// The writings from here to there have no case, and asking Unicode's tables takes long.
const firstCaseless, afterCaseless = 0x2E80, 0xA640

// fold is the first of the characters that differ in case only.
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
