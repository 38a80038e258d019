package bpe

import "strings"

// The functions below do what the encodings' regular expressions do, which take the first alternative that matches and
// try longer before shorter. None looks at a character more than a few times, whatever follows.

// nextO200k returns where the first piece ends by o200k_base. Its alternatives, in this order: a word with an English
// contraction, where a word is any characters that are no lower case letters before any that are no upper case ones,
// and can have one other character before it; up to three digits; punctuation with a space before and newlines and
// slashes after it; white space.
func nextO200k(text string) int {
	s := scan(text)
	first, width := s.at(0)
	start := 0
	if first&(newline|letter|number) == 0 {
		start = width
	}
	if end := s.wordWithTail(start); end > 0 {
		return end
	}
	if first&mark != 0 {
		// A mark is a tail by itself.
		return s.wordWithTail(0)
	}
	if end := s.skip(start, heads); end > start {
		return s.withContraction(end)
	}
	if first&number != 0 {
		return s.skipAtMost(0, number, 3)
	}
	if end := s.punctuation(); end > 0 {
		for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
			end++
		}
		return end
	}
	return s.whiteSpace(false)
}

// nextCl100k returns where the first piece ends by cl100k_base. Its alternatives, in this order: an English contraction;
// letters with one other character before them; up to three digits; punctuation with a space before and newlines after
// it; white space.
func nextCl100k(text string) int {
	s := scan(text)
	if end := s.contraction(0); end > 0 {
		return end
	}
	first, width := s.at(0)
	if first&(newline|letter|number) == 0 {
		if end := s.skip(width, letter); end > width {
			return end
		}
	}
	switch {
	case first&letter != 0:
		return s.skip(0, letter)
	case first&number != 0:
		return s.skipAtMost(0, number, 3)
	}
	if end := s.punctuation(); end > 0 {
		return s.skip(end, newline)
	}
	return s.whiteSpace(true)
}

// wordWithTail returns where a word of o200k_base that begins at i ends, any heads and then at least one tail; 0 where
// there is none.
func (s *scanner) wordWithTail(i int) int {
	end, tail := i, 0
	for {
		c, width := s.at(end)
		if width == 0 || c&heads == 0 {
			break
		}
		end += width
		if c&tails != 0 {
			tail = end
		}
	}
	if c, _ := s.at(end); c&tails != 0 {
		return s.withContraction(s.skip(end, tails))
	}
	// The last head that can be a tail is one, and what comes after it is left for the next piece.
	if tail > 0 {
		return s.withContraction(tail)
	}
	return 0
}

func (s *scanner) withContraction(i int) int { return max(i, s.contraction(i)) }

// contraction returns where an English contraction that begins at i ends; 0 where none does.
func (s *scanner) contraction(i int) int {
	rest := s.text[i:]
	if len(rest) < 2 || rest[0] != '\'' {
		return 0
	}
	rest = rest[1:]
	switch rest[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v', 'l':
		if two := rest[:min(2, len(rest))]; strings.EqualFold(two, "re") || strings.EqualFold(two, "ve") ||
			strings.EqualFold(two, "ll") {
			return i + 3
		}
	}
	// Regardless of case the long s is an s.
	if strings.HasPrefix(rest, "ſ") {
		return i + 1 + len("ſ")
	}
	return 0
}

// punctuation returns where a run of neither letters, numbers nor white space at the beginning ends, one space before it
// allowed; 0 where there is none.
func (s *scanner) punctuation() int {
	start := 0
	if strings.HasPrefix(s.text, " ") {
		start = 1
	}
	if end := s.skipNot(start, letter|number|space); end > start {
		return end
	}
	return 0
}

// whiteSpace returns where the white space at the beginning ends as one piece: at its last newline; else before its last
// character, which goes with what follows; else it is one character. endWhole says that all of it is a piece at the end
// of the text, newlines or not.
func (s *scanner) whiteSpace(endWhole bool) int {
	end, last, lastNewline := 0, 0, 0
	for {
		c, width := s.at(end)
		if width == 0 || c&space == 0 {
			break
		}
		last = end
		end += width
		if c&newline != 0 {
			lastNewline = end
		}
	}
	switch {
	case endWhole && end == len(s.text):
		return end
	case lastNewline > 0:
		return lastNewline
	case end == len(s.text) || last == 0:
		return end
	default:
		return last
	}
}
