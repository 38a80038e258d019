package evidence

import (
	"strings"
	"unicode/utf8"
)

// vocabulary are words of names, without regard to case.
type vocabulary struct {
	// ids are the positions of words in known.
	ids map[string]int32
	// known says which of them known names have.
	known []bool
	// lower is the word that is looked up.
	lower []byte
}

// know says that a known name has a word.
func (v *vocabulary) know(word string) { v.known[v.id(word)] = true }

// forget forgets the words that known names do not have.
func (v *vocabulary) forget() {
	words := make(map[string]int32)
	for word, id := range v.ids {
		if v.known[id] {
			words[word] = int32(len(words))
		}
	}
	v.ids, v.known = words, make([]bool, len(words))
	for i := range v.known {
		v.known[i] = true
	}
}

// id returns the position of a word, which is added if it is new.
func (v *vocabulary) id(word string) int32 {
	v.lower = appendLower(v.lower[:0], word)
	// Looking up the bytes makes no string of them.
	id, ok := v.ids[string(v.lower)]
	if !ok {
		id = int32(len(v.known))
		v.ids[string(v.lower)] = id
		v.known = append(v.known, false)
	}
	return id
}

// appendLower appends a text in lower case.
func appendLower(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(b[:len(b)-i], strings.ToLower(s)...)
		}
		if isUpper(c) {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
