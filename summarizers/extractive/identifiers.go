package extractive

import "strings"

// identifier says how likely it is that a word is needed again exactly.
type identifier uint8

const (
	plainWord identifier = iota
	// number is a number with several digits.
	number
	// codeName is a name in code.
	codeName
	// pathName is a path or a file name.
	pathName
	// codeNumber is an error code, a hash or an id.
	codeNumber
	// address is a URL.
	address
)

// weight is what an identifier adds to the score of its statement.
func (id identifier) weight() int {
	switch id {
	case number:
		return 1
	case codeName:
		return 2
	case pathName, codeNumber, address:
		return 3
	default:
		return 0
	}
}

// maxIdentifier is the length of the longest word that counts as an identifier.
const maxIdentifier = 200

// isIdentifierByte says which bytes an identifier may have: also those that join parts, such as the colon of file:line.
var isIdentifierByte = func() (table [256]bool) {
	for b := range table {
		c := byte(b)
		table[b] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("_-./:@~#%+=?&$\\", c) >= 0
	}
	return table
}()

// isIdentifierEdge says which of these bytes do not belong to an identifier at its beginning and end.
var isIdentifierEdge = func() (table [256]bool) {
	for _, b := range []byte(".:-+=?&#,%\\") {
		table[b] = true
	}
	return table
}()

// eachIdentifier calls yield for each identifier in a text. Any text in backquotes is one.
//
// It rates prose: a short number as in "30 March", a short name in backquotes or a call() makes a sentence worth keeping.
// evidence.Names finds fewer, which are known again in other texts.
func eachIdentifier(s string, yield func(word string, what identifier)) {
	for i := 0; i < len(s); {
		if s[i] == '`' {
			if end := strings.IndexByte(s[i+1:], '`'); end > 1 && end <= maxIdentifier {
				word := s[i+1 : i+1+end]
				if !strings.ContainsAny(word, "\n") {
					what := classifyWord(word)
					if what == plainWord {
						what = codeName
					}
					yield(word, what)
					i += end + 2
					continue
				}
			}
			i++
			continue
		}
		if !isIdentifierByte[s[i]] {
			i++
			continue
		}
		start := i
		for i < len(s) && isIdentifierByte[s[i]] {
			i++
		}
		word := s[start:i]
		for word != "" && isIdentifierEdge[word[0]] {
			word = word[1:]
		}
		for word != "" && isIdentifierEdge[word[len(word)-1]] {
			word = word[:len(word)-1]
		}
		if i+1 < len(s) && s[i] == '(' && s[i+1] == ')' && word != "" {
			yield(word+"()", codeName)
			i += 2
			continue
		}
		if len(word) < 3 || len(word) > maxIdentifier {
			continue
		}
		if what := classifyWord(word); what != plainWord {
			yield(word, what)
		}
	}
}

// classifyWord returns the kind of identifier that a word is.
func classifyWord(w string) identifier {
	var upper, lower, digit, under, slash, dot, dash, colon, inner, other int
	for i := 0; i < len(w); i++ {
		switch b := w[i]; {
		case b >= 'A' && b <= 'Z':
			upper++
			if i > 0 && w[i-1] >= 'a' && w[i-1] <= 'z' {
				inner++
			}
		case b >= 'a' && b <= 'z':
			lower++
		case b >= '0' && b <= '9':
			digit++
		case b == '_':
			under++
		case b == '/' || b == '\\':
			slash++
		case b == '.':
			dot++
		case b == '-':
			dash++
		case b == ':':
			colon++
		default:
			other++
		}
	}
	letters := upper + lower
	switch {
	case slash >= 2 && colon > 0 && strings.Contains(w, "://"):
		return address
	case slash > 0 && letters > 2 && (dot > 0 || slash > 1 || w[0] == '/' || w[0] == '~' || under > 0):
		return pathName
	case slash > 0 || other > 0 && letters == 0:
		return plainWord
	case letters == 0:
		if digit >= 3 && dash == 0 {
			return number
		}
		return plainWord
	case digit > 0 && upper > 0 && lower == 0 && len(w) >= 4:
		return codeNumber
	case digit >= 2 && len(w) >= 7 && isLowerHex(w):
		return codeNumber
	case digit > 0 && (under > 0 || dash > 0) && len(w) >= 6 && colon == 0:
		return codeNumber
	case upper > 2 && lower == 0 && under > 0:
		return codeNumber
	case strings.HasSuffix(w, "Error") || strings.HasSuffix(w, "Exception"):
		return codeNumber
	case dot > 0 && hasExtension(w):
		return pathName
	case under > 0 && letters > 2, inner > 0 && len(w) > 4:
		return codeName
	case dot > 0 && digit > 0 && colon == 0:
		return number
	case colon > 0 && digit > 1:
		return codeNumber
	case digit >= 2 && len(w) <= 12:
		return number
	}
	return plainWord
}

func isLowerHex(w string) bool {
	for i := 0; i < len(w); i++ {
		b := w[i]
		if (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return false
		}
	}
	return true
}

// hasExtension says whether a word ends like a file name.
func hasExtension(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	ext := w[dot+1:]
	if dot < 1 || len(ext) == 0 || len(ext) > 5 {
		return false
	}
	letters := 0
	for i := 0; i < len(ext); i++ {
		b := ext[i]
		switch {
		case b >= 'a' && b <= 'z':
			letters++
		case b < '0' || b > '9':
			return false
		}
	}
	return letters > 0
}
