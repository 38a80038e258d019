package extractive

// wordScanner splits sentences into words. It reuses its memory for the next sentence.
type wordScanner struct {
	lower []byte
	spans []wordSpan
}

type wordSpan struct {
	start, end int
	// hash finds the phrases that begin with the word.
	hash uint32
	// opens says that a clause begins before the word, or may begin there because of a capital letter. parted says that
	// punctuation is before it.
	opens, parted bool
}

func (w *wordScanner) word(i int) string { return string(w.lower[w.spans[i].start:w.spans[i].end]) }

// lowered has the lower case of each ASCII letter and digit, and 0 for other bytes.
var lowered = func() (table [256]byte) {
	for b := byte('0'); b <= '9'; b++ {
		table[b] = b
	}
	for b := byte('a'); b <= 'z'; b++ {
		table[b], table[b-'a'+'A'] = b, b
	}
	return table
}()

// scan reads the words of a sentence: runs of Latin and Cyrillic letters, digits, hyphens and apostrophes, in lower
// case. An elided article or pronoun, as in "n'utilise", is a word of its own.
func (w *wordScanner) scan(s string) {
	w.lower, w.spans = w.lower[:0], w.spans[:0]
	parted := true
	for i := 0; i < len(s); {
		b := s[i]
		if lowered[b] != 0 || b >= 0xC3 && b <= 0xD1 {
			if end := w.scanWord(s, i, parted); end > i {
				i, parted = end, false
				continue
			}
		}
		switch b {
		case ' ', '\t', '`', '*', '"', '\'', '[', ']', '/', '_':
		case '.':
			parted = parted || i+1 < len(s) && s[i+1] == ' '
		case 0xE2:
			// A typographic apostrophe parts no more than a plain one.
			if isApostrophe(s[i:]) {
				i += 2
				break
			}
			parted = true
		default:
			parted = true
		}
		i++
	}
}

// scanWord reads the word that begins at i, and returns its end, or i if there is none.
func (w *wordScanner) scanWord(s string, i int, parted bool) int {
	start, from, hash := len(w.lower), i, uint32(0)
	// People leave out full stops; a capital letter then begins a clause.
	capital := s[i] >= 'A' && s[i] <= 'Z' && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z'
scanning:
	for i < len(s) {
		b := s[i]
		low, length := lowered[b], 1
		switch {
		case low != 0:
		case b == '\'' || b == 0xE2 && isApostrophe(s[i:]):
			if elides(w.lower[start:]) {
				break scanning
			}
			if low = '\''; b != low {
				length = 3
			}
		case b == '-' || b == '_':
			low = b
		case b >= 0xC3 && b <= 0xD1 && i+1 < len(s):
			first, second, ok := lowerLetter(b, s[i+1])
			if !ok {
				break scanning
			}
			capital = capital || i == from && (first != b || second != s[i+1])
			w.lower = append(w.lower, first)
			hash = hash*hashFactor + uint32(first)
			low, length = second, 2
		default:
			break scanning
		}
		w.lower = append(w.lower, low)
		hash = hash*hashFactor + uint32(low)
		i += length
	}
	if i > from {
		w.spans = append(w.spans, wordSpan{start, len(w.lower), hash, parted || capital, parted})
	}
	return i
}

// hashFactor spreads the words over the phrases' table.
const hashFactor = 0x01000193

// isApostrophe says whether a text begins with a typographic apostrophe.
func isApostrophe(s string) bool { return len(s) > 2 && s[0] == 0xE2 && s[1] == 0x80 && s[2] == 0x99 }

// elides says whether letters before an apostrophe are an elided word of French. English ones are not elided.
func elides(letters []byte) bool {
	switch string(letters) {
	case "c", "d", "j", "l", "m", "n", "s", "t", "qu":
		return true
	}
	return false
}

// lowerLetter returns the lower case of a letter of two bytes: of Latin with accents, or of Cyrillic.
func lowerLetter(first, second byte) (lowerFirst, lowerSecond byte, ok bool) {
	switch {
	case first == 0xC3 && second != 0x97 && second != 0xB7:
		if second <= 0x9E {
			second += 0x20
		}
	case first == 0xC4, first == 0xC5:
		if first == 0xC5 && second == 0x92 {
			second++
		}
	case first == 0xD0 && second >= 0x90 && second <= 0x9F:
		second += 0x20
	case first == 0xD0 && second >= 0xA0 && second <= 0xAF:
		first, second = 0xD1, second-0x20
	case first == 0xD0 && second == 0x81:
		first, second = 0xD1, 0x91
	case first == 0xD0, first == 0xD1:
	default:
		return first, second, false
	}
	return first, second, second >= 0x80 && second < 0xC0
}
