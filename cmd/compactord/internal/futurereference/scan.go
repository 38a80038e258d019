package futurereference

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenGroup is the shape of a token.
type tokenGroup int

const (
	tokenURL tokenGroup = iota
	// tokenAbsolute is a path that begins with a slash, `~/`, `./` or `../`; tokenRelative any other path with a slash;
	// tokenFile a file name alone.
	tokenAbsolute
	tokenRelative
	tokenFile
	tokenUUID
	// tokenCode is capital letters and numbers with dashes, such as CVE-2024-1234.
	tokenCode
	tokenWord
)

// shapes are tried in this order at each position. Each returns the end of its token at a position, or -1.
var shapes = []struct {
	group tokenGroup
	end   func(text string, at int) int
}{
	{tokenURL, urlEnd},
	{tokenAbsolute, absolutePathEnd},
	{tokenRelative, relativePathEnd},
	{tokenFile, fileNameEnd},
	{tokenUUID, uuidEnd},
	{tokenCode, codeEnd},
	{tokenWord, wordTokenEnd},
}

// scanTokens calls emit for each token of a text, from left to right. Tokens do not overlap.
func scanTokens(text string, emit func(group tokenGroup, value string)) {
	for at := 0; at < len(text); {
		end := -1
		for _, shape := range shapes {
			if end = shape.end(text, at); end >= 0 {
				emit(shape.group, text[at:end])
				break
			}
		}
		if end < 0 {
			_, size := utf8.DecodeRuneInString(text[at:])
			end = at + size
		}
		at = end
	}
}

// isWordChar says whether a character can be part of a word: a letter, a digit or an underscore.
func isWordChar(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// isSegmentChar says whether a character can be part of a path's segment.
func isSegmentChar(r rune) bool { return isWordChar(r) || r == '.' || r == '@' || r == '+' || r == '-' }

// isSpace says whether a character is white space, separators of ASCII included.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// runEnd returns the end of the run of such characters at a position.
func runEnd(text string, at int, is func(rune) bool) int {
	for i, r := range text[at:] {
		if !is(r) {
			return at + i
		}
	}
	return len(text)
}

// wordBefore and wordAt say whether the character before or at a position is part of a word.
func wordBefore(text string, at int) bool {
	r, size := utf8.DecodeLastRuneInString(text[:at])
	return size > 0 && isWordChar(r)
}

func wordAt(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at:])
	return size > 0 && isWordChar(r)
}

// withinPath says whether the character before a position could belong to the same path.
func withinPath(text string, at int) bool {
	r, size := utf8.DecodeLastRuneInString(text[:at])
	return size > 0 && (isSegmentChar(r) || r == '/' || r == '~')
}

func isURLChar(r rune) bool { return !isSpace(r) && !strings.ContainsRune("\"'`<>()[]{}|\\^", r) }

func urlEnd(text string, at int) int {
	for _, scheme := range []string{"https://", "http://"} {
		if !strings.HasPrefix(text[at:], scheme) {
			continue
		}
		if end := runEnd(text, at+len(scheme), isURLChar); end > at+len(scheme) {
			return end
		}
	}
	return -1
}

func absolutePathEnd(text string, at int) int {
	if c := text[at]; c != '/' && c != '~' && c != '.' || withinPath(text, at) {
		return -1
	}
	slash := at
	switch {
	case text[at] == '~':
		slash++
	case strings.HasPrefix(text[at:], ".."):
		slash += 2
	case text[at] == '.':
		slash++
	}
	if slash == len(text) || text[slash] != '/' {
		return -1
	}
	end := -1
	for start := slash + 1; ; {
		segment := runEnd(text, start, isSegmentChar)
		if segment == start {
			return end
		}
		end = segment
		if segment == len(text) || text[segment] != '/' {
			return end
		}
		start = segment + 1
	}
}

// relativePathEnd ends a path at its last segment with an extension.
func relativePathEnd(text string, at int) int {
	first := runEnd(text, at, isSegmentChar)
	if first == at || first == len(text) || text[first] != '/' || withinPath(text, at) {
		return -1
	}
	end := -1
	for start := first + 1; ; {
		segment := runEnd(text, start, isSegmentChar)
		if segment == start {
			return end
		}
		if found := extensionEnd(text, start, segment, anyExtension); found >= 0 && text[start] != '.' {
			end = found
		}
		if segment == len(text) || text[segment] != '/' {
			return end
		}
		start = segment + 1
	}
}

func fileNameEnd(text string, at int) int {
	end := runEnd(text, at, isSegmentChar)
	if end == at || withinPath(text, at) {
		return -1
	}
	return extensionEnd(text, at, end, func(text string, dot, end int) bool {
		return wordBefore(text, dot) && extensions[text[dot+1:end]] && (end == len(text) || text[end] != '/')
	})
}

// extensionEnd returns the end of the last extension in a run of segment characters that is accepted, or -1. There must be
// something before its dot.
func extensionEnd(text string, start, end int, accepts func(text string, dot, end int) bool) int {
	for dot := strings.LastIndexByte(text[start:end], '.') + start; dot > start; {
		if extension := runEnd(text, dot+1, isWordChar); accepts(text, dot, extension) {
			return extension
		}
		dot = strings.LastIndexByte(text[start:dot], '.') + start
	}
	return -1
}

// anyExtension accepts a letter and at most seven more characters.
func anyExtension(text string, dot, end int) bool {
	length := utf8.RuneCountInString(text[dot+1 : end])
	return length >= 1 && length <= 8 && isASCIILetter(text[dot+1])
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isHexDigit(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
}

func uuidEnd(text string, at int) int {
	const length = 36
	if len(text)-at < length || wordBefore(text, at) {
		return -1
	}
	for i := range length {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if c := text[at+i]; dash != (c == '-') || !dash && !isHexDigit(rune(c)) {
			return -1
		}
	}
	if wordAt(text, at+length) {
		return -1
	}
	return at + length
}

func codeEnd(text string, at int) int {
	letters := runEnd(text, at, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if letters-at < 2 || letters-at > 8 || letters == len(text) || text[letters] != '-' || wordBefore(text, at) {
		return -1
	}
	end := runEnd(text, letters+1, unicode.IsDigit)
	if digits := utf8.RuneCountInString(text[letters+1 : end]); digits < 2 || digits > 6 || wordAt(text, end) {
		return -1
	}
	if end < len(text) && text[end] == '-' {
		if more := runEnd(text, end+1, unicode.IsDigit); more > end+1 && !wordAt(text, more) {
			return more
		}
	}
	return end
}

func wordTokenEnd(text string, at int) int {
	if end := runEnd(text, at, isWordChar); end > at {
		return end
	}
	return -1
}

// longestQuotation is how many characters between two quotes are looked at.
const longestQuotation = 400

// scanQuotations calls emit for each text between double quotes, backquotes, or single quotes that are no apostrophes.
func scanQuotations(text string, emit func(value string)) {
	for at := 0; at < len(text); {
		end := quotationEnd(text, at)
		if end < 0 {
			at++
			continue
		}
		emit(text[at+1 : end])
		at = end + 1
	}
}

// quotationEnd returns the position of the quote that closes the one at a position; -1 if there is none.
func quotationEnd(text string, at int) int {
	quote := text[at]
	if quote != '"' && quote != '`' && quote != '\'' || quote == '\'' && wordBefore(text, at) {
		return -1
	}
	length := 0
	for i, r := range text[at+1:] {
		switch {
		case r == rune(quote):
			if end := at + 1 + i; quote != '\'' || !wordAt(text, end+1) {
				return end
			}
			return -1
		case r == '\n' || length == longestQuotation:
			return -1
		}
		length++
	}
	return -1
}

// extensions are those of file names that are entities without a folder.
var extensions = func() map[string]bool {
	known := make(map[string]bool)
	for _, e := range strings.Fields(`
		bash bat bazel c cc cfg cjs class clj cmake conf cpp cs css csv cxx dart diff dll ex exs fish gif go gradle graphql h
		hpp hs htm html ico ini ipynb jar java jinja jpeg jpg js json jsonl jsx kt less lock log lua m md mdx mjs ml mod nix
		patch pdf php pl plist png po pony proto ps1 py pyc pyi pyx r rb rs rst sass scala scss sh sol sql sqlite sum svelte
		svg swift tar tex tf toml traj ts tsv tsx txt vue wasm xml yaml yml zig zip zsh`) {
		known[e] = true
	}
	return known
}()
