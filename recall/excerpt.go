package recall

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrBeyondEnd means that a range begins after the end of the content.
var ErrBeyondEnd = errors.New("beyond the end")

// Excerpt is the part of a content in an answer.
type Excerpt struct {
	// Start is its first byte, End the byte after its last.
	Start, End int
	// More reports that the limit ended it before the end of the range.
	More bool
}

// Bytes returns the excerpt of data from offset on, of length bytes (0: up to the end), and at most limit bytes.
func Bytes(data []byte, offset, length uint32, limit int) (Excerpt, error) {
	start, end, err := byteRange(len(data), offset, length)
	if err != nil {
		return Excerpt{}, err
	}
	if end-start > limit {
		return Excerpt{Start: start, End: start + limit, More: true}, nil
	}
	return Excerpt{Start: start, End: end}, nil
}

// Characters is Bytes for text. The excerpt has only whole characters, at least one: it starts with the one at offset
// and ends with the last that fits.
func Characters(text string, offset, length uint32, limit int) (Excerpt, error) {
	start, end, err := byteRange(len(text), offset, length)
	if err != nil {
		return Excerpt{}, err
	}
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
		start--
	}
	whole := wholeCharacters(text, start, end)
	cut := wholeCharacters(text, start, min(whole, start+limit))
	return Excerpt{Start: start, End: cut, More: cut < whole}, nil
}

func byteRange(size int, offset, length uint32) (start, end int, err error) {
	if int64(offset) > int64(size) || size > 0 && int64(offset) == int64(size) {
		return 0, 0, ErrBeyondEnd
	}
	start, end = int(offset), size
	if length > 0 && int64(length) < int64(size-start) {
		end = start + int(length)
	}
	return start, end, nil
}

// wholeCharacters moves end back to the end of a character, but not before the end of the first one after start.
func wholeCharacters(text string, start, end int) int {
	if end >= len(text) {
		return len(text)
	}
	for end > start && !utf8.RuneStart(text[end]) {
		end--
	}
	if end <= start {
		_, width := utf8.DecodeRuneInString(text[start:])
		return start + width
	}
	return end
}

// Lines returns the excerpt of count lines (0: up to the end) from line first on, counted from 1. It has the whole
// lines that fit into limit bytes, or else the beginning of the first. A line ends after its line feed.
func Lines(text string, first, count uint32, limit int) (Excerpt, error) {
	start, ok := lineStart(text, first)
	if !ok {
		return Excerpt{}, ErrBeyondEnd
	}
	// end is after the last line that fits, asked after the last line read.
	end, asked := start, start
	for taken := uint32(0); asked < len(text) && (count == 0 || taken < count); taken++ {
		if asked = lineEnd(text, asked); asked-start > limit {
			break
		}
		end = asked
	}
	if end == start {
		end = wholeCharacters(text, start, min(asked, start+limit))
	}
	return Excerpt{Start: start, End: end, More: end < asked}, nil
}

// lineStart returns the first byte of a line; false where the text has fewer lines. Line 1 of an empty text exists.
func lineStart(text string, line uint32) (int, bool) {
	at := 0
	for n := uint32(1); n < line; n++ {
		if at = lineEnd(text, at); at == len(text) {
			return 0, false
		}
	}
	return at, true
}

// lineEnd returns the byte after the line that begins at start.
func lineEnd(text string, start int) int {
	if feed := strings.IndexByte(text[start:], '\n'); feed >= 0 {
		return start + feed + 1
	}
	return len(text)
}

// LineCount returns the number of lines of a text; 0 for an empty one.
func LineCount(text string) uint32 {
	count := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		count++
	}
	return uint32(count)
}

// LineOf returns the number, from 1, of the line that contains a byte.
func LineOf(text string, at int) uint32 { return uint32(strings.Count(text[:at], "\n")) + 1 }

// NextLine returns the number of the line that begins after an excerpt; 0 where the excerpt ends within a line. At the
// end of the text it is the number of lines plus one.
func NextLine(text string, end int) uint32 {
	switch {
	case end == len(text):
		return LineCount(text) + 1
	case end > 0 && text[end-1] != '\n':
		return 0
	default:
		return LineOf(text, end)
	}
}
