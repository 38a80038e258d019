package bpe

import "strings"

// The functions below do what the encodings' regular expressions do. Those take the first alternative that matches, and
// try longer matches before shorter ones. No function looks at a character more than a few times, whatever follows.

// nextO200k returns the end of the first piece by o200k_base. These are the alternatives, in this order: a word, with
// an English contraction after it; up to three digits; punctuation, with a space before it and newlines and slashes
// after it; white space. A word is any characters that are not lower case letters, followed by any that are not upper
// case ones. One other character can come before it.
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
		// A mark alone is a tail.
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

// nextCl100k returns the end of the first piece by cl100k_base. These are the alternatives, in this order: an English
// contraction; letters, with one other character before them; up to three digits; punctuation, with a space before it
// and newlines after it; white space.
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

// wordWithTail returns the end of a word of o200k_base that begins at i: any heads, then at least one tail. It returns
// 0 where there is none.
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
	// The last head that is also a tail ends the word. What comes after it belongs to the next piece.
	if tail > 0 {
		return s.withContraction(tail)
	}
	return 0
}

func (s *scanner) withContraction(i int) int { return max(i, s.contraction(i)) }

// contraction returns the end of an English contraction that begins at i; 0 where there is none.
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
	// Ignoring case, the long s is an s.
	if strings.HasPrefix(rest, "ſ") {
		return i + 1 + len("ſ")
	}
	return 0
}

// punctuation returns the end of a run at the beginning without letters, numbers or white space; one space may come
// before it. It returns 0 where there is none.
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

// whiteSpace returns the end of the first piece of the white space at the beginning. The piece ends after the last
// newline. Without a newline it ends before the last character, which belongs to what follows; a single character is a
// piece. endWhole: at the end of the text all white space is one piece, with or without newlines.
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
