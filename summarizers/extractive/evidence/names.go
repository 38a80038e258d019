package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a name names.
type Kind uint8

// The kinds of names. Where a text is of several kinds, the first in this order counts.
const (
	// URL is an address of http or https.
	URL Kind = iota + 1
	// Path is a path of two or more segments, or a file's name with a known extension.
	Path
	// ID is a UUID, or a hexadecimal number of 7 or more digits.
	ID
	// Code is an error code, a ticket or the code of a booking or an order, such as E0432, ENOENT, PROJ-12, 8KLP2R.
	Code
	// Identifier is a name of 7 or more characters in snake_case or camelCase.
	Identifier
	// Number has 4 or more digits. Dates, telephone numbers and amounts of money are numbers, too.
	Number
	// Quotation is 8 to 120 characters in quotation marks on one line.
	Quotation
	// Mail is an address of e-mail.
	Mail
)

// Name is something that a conversation names, and may name again.
type Name struct {
	Kind Kind
	Text string
}

// shown returns the name as it is shown without its line: a quotation in quotation marks, by which it is known again.
func (n Name) shown() string {
	if n.Kind != Quotation {
		return n.Text
	}
	for _, mark := range []string{`"`, "`"} {
		if !strings.Contains(n.Text, mark) {
			return mark + n.Text + mark
		}
	}
	// It was in marks of this kind.
	return "'" + n.Text + "'"
}

// The bounds of names, in bytes.
const (
	minURL, maxURL             = 12, 400
	minPath, maxPath           = 5, 300
	minWord, maxWord           = 4, 100
	minIdentifier              = 7
	minQuotation, maxQuotation = 8, 120
	maxNumber                  = 20
)

// Names calls yield for each name in a text and its offset, in order. A name can come more than once, and a quotation
// can hold others. Its work is linear in the length of the text.
func Names(text string, yield func(n Name, at int)) {
	// closing is the offset of the mark that ends the quotation around i. Other marks in it begin none.
	closing := -1
	for i := 0; i < len(text); {
		switch class := byteClass[text[i]]; {
		case class&inRun != 0:
			if i > 0 && text[i-1] == '\\' && strings.IndexByte("nrt", text[i]) >= 0 {
				// An escaped line break or tab is not part of the word after it.
				i++
				continue
			}
			end, classes := runAt(text, i)
			switch {
			case end == i:
				// A character of a script without spaces, or punctuation.
				_, size := utf8.DecodeRuneInString(text[i:])
				i += size
				continue
			case end-i > maxRun:
			case beginsURL(text, i, end):
				i = urlAt(text, i, end, yield)
				continue
			case text[i] == '+' || class&digit != 0:
				if from, to, ok := valueAt(text, i, end); ok {
					yield(Name{Number, text[from:to]}, from)
					i = to
					continue
				}
				namesOfRun(text[i:end], classes, i, yield)
			case classes&^(inRun|small) != 0:
				namesOfRun(text[i:end], classes, i, yield)
			}
			// A run of small letters alone is a word of prose.
			i = end
		case class&mark != 0:
			if i > closing {
				closing = quotationAt(text, i, yield)
			}
			i++
		default:
			i++
		}
	}
}

// maxRun is the length of the longest run with names. A longer one is data, such as base64.
const maxRun = 800

// runAt returns the end of the run that begins at i, and the classes of its bytes. Characters of scripts without spaces
// end a run, and so does punctuation that is not ASCII.
func runAt(text string, i int) (end int, classes uint8) {
	for end = i; end < len(text) && byteClass[text[end]]&inRun != 0; {
		classes |= byteClass[text[end]]
		if text[end] < utf8.RuneSelf {
			end++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[end:])
		if !isOfWord(r) {
			break
		}
		end += size
	}
	return end, classes
}

var scriptsWithoutSpaces = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}

// isOfWord says whether a character that is not ASCII can stand in a word with others.
func isOfWord(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !unicode.In(r, scriptsWithoutSpaces...)
}

// The classes of bytes.
const (
	// inRun is a byte that can stand in a path, a word or an id. All of a character that is not ASCII can.
	inRun uint8 = 1 << iota
	small
	capital
	digit
	sign
	// separator parts a path.
	separator
	// mark is a quotation mark.
	mark
	// bracket is a round or a square one.
	bracket
)

var byteClass = func() (table [256]uint8) {
	for i := range table {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z':
			table[i] = inRun | small
		case c >= 'A' && c <= 'Z':
			table[i] = inRun | capital
		case c >= '0' && c <= '9':
			table[i] = inRun | digit
		case c == '/' || c == '.':
			table[i] = inRun | separator
		case c >= utf8.RuneSelf || strings.IndexByte("_@+~-", c) >= 0:
			table[i] = inRun | sign
		case strings.IndexByte("\"`'", c) >= 0:
			table[i] = mark
		case strings.IndexByte("()[]", c) >= 0:
			table[i] = bracket
		}
	}
	return table
}()

func isRun(c byte) bool { return byteClass[c]&inRun != 0 }

// beginsURL says whether text[start:end] is the scheme of a URL.
func beginsURL(text string, start, end int) bool {
	return end < len(text) && text[end] == ':' && (text[start:end] == "http" || text[start:end] == "https") &&
		strings.HasPrefix(text[end:], "://")
}

// urlAt yields the URL whose scheme is text[start:end], and returns its end.
func urlAt(text string, start, end int, yield func(n Name, at int)) int {
	stop := end + len("://")
	for stop < len(text) && !endsURL(text[stop]) {
		stop++
	}
	if u := strings.TrimRight(text[start:stop], ".,;:!?*_"); len(u) >= minURL && len(u) <= maxURL {
		yield(Name{URL, u}, start)
	}
	return stop
}

func endsURL(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`<>()[]{}|\\^", c) >= 0
}

// maxPair is how far a quotation mark may be from the next one of its kind to be a pair with it.
const maxPair = 400

// quotationAt yields what stands between a quotation mark and the next one of its kind on the line, if it is long enough
// to be a quotation. It returns the offset of the second mark, or at if there is none.
func quotationAt(text string, at int, yield func(n Name, at int)) (closing int) {
	open := text[at]
	if open == '\'' && at > 0 && isWordByte(text[at-1]) {
		return at
	}
	rest := text[at+1 : min(len(text), at+maxPair+2)]
	size := strings.IndexByte(rest, open)
	if size < 0 || strings.IndexByte(rest[:size], '\n') >= 0 {
		return at
	}
	closing = at + 1 + size
	if open == '\'' && closing+1 < len(text) && isWordByte(text[closing+1]) {
		return at
	}
	if q := rest[:size]; isQuotation(q) {
		yield(Name{Quotation, q}, at+1)
	}
	return closing
}

func isQuotation(s string) bool {
	return len(s) >= minQuotation && len(s) <= maxQuotation && s[0] > ' ' && s[len(s)-1] > ' ' && s[len(s)-1] != '\\' &&
		!isBetweenTwo(s) && !isPlainName(s) && !isSpaced(s) &&
		strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// isSpaced says whether a text has more than single spaces. Summaries show only these, so they cannot quote it. Code
// writes a line break as an escape.
func isSpaced(s string) bool {
	return strings.Contains(s, "  ") || strings.Contains(s, "\t") || strings.Contains(s, `\n`)
}

// isBetweenTwo says whether a text is what stands between two quotations, such as `, name, `.
func isBetweenTwo(s string) bool {
	return strings.IndexByte(",:;)]}+", s[0]) >= 0 || strings.IndexByte("([{,+", s[len(s)-1]) >= 0
}

// isPlainName says whether a text is one name with dots or colons, which is no quotation.
func isPlainName(s string) bool {
	s = strings.TrimSuffix(s, "()")
	for i := range len(s) {
		if !isWordByte(s[i]) && s[i] != '.' && s[i] != ':' {
			return false
		}
	}
	return true
}

func isWordByte(c byte) bool {
	return byteClass[c]&(small|capital|digit) != 0 || c == '_' || c >= utf8.RuneSelf
}
