package evidence

import (
	"strings"
	"unicode/utf8"
)

// namesOfRun yields the names in a run of bytes that paths and words can have. classes are those of its bytes, and offset
// is its place.
func namesOfRun(run string, classes uint8, offset int, yield func(n Name, at int)) {
	if classes&(sign|separator) == 0 {
		// Most runs are one word.
		if k := kindOfWord(run); k != 0 {
			yield(Name{k, run}, offset)
		}
		return
	}
	if classes&sign != 0 && strings.IndexByte(run, '@') > 0 {
		if mail, ok := mailIn(run); ok {
			yield(Name{Mail, mail}, offset)
			return
		}
	}
	if classes&separator != 0 {
		if file := fileBesideMatch(run); file > 0 {
			run = run[:file]
		}
		if start, end, ok := pathIn(run); ok {
			yield(Name{Path, run[start:end]}, offset+start)
			return
		}
	}
	if isUUID(run) {
		yield(Name{ID, run}, offset)
		return
	}
	for start := 0; start < len(run); {
		if !isWordByte(run[start]) {
			start++
			continue
		}
		if isDate(run[start:]) {
			// A time of a day names nothing.
			if end := start + dateBytes; end == len(run) || !isWordByte(run[end]) {
				yield(Name{Number, run[start:end]}, offset+start)
			}
			start += dateBytes
			continue
		}
		if code := dashedAt(run, start); code > start {
			yield(Name{Code, run[start:code]}, offset+start)
			start = code
			continue
		}
		end := start + 1
		for end < len(run) && isWordByte(run[end]) {
			end++
		}
		if ticket := ticketAt(run, start, end); ticket > end {
			yield(Name{Code, run[start:ticket]}, offset+start)
			start = ticket
			continue
		}
		if k := kindOfWord(run[start:end]); k != 0 {
			yield(Name{k, run[start:end]}, offset+start)
		}
		start = end
	}
}

// fileBesideMatch returns how long the name of the file is in a run such as main.go-12-return, with which a search shows a
// line beside a match. It returns 0 for other runs.
func fileBesideMatch(run string) int {
	for end := len(run) - 1; end > 0; end-- {
		if run[end] != '-' || !isDigit(run[end-1]) {
			continue
		}
		dash := end - 1
		for dash > 0 && isDigit(run[dash]) {
			dash--
		}
		if run[dash] != '-' {
			continue
		}
		if dot := strings.LastIndexByte(run[:dash], '.'); dot > 0 && isExtension(run[dot+1:dash]) {
			return dash
		}
	}
	return 0
}

// pathIn returns where the path is that a run is, if it is one.
func pathIn(run string) (start, end int, ok bool) {
	end = len(run)
	for end > 0 && endsNoPath(run[end-1]) {
		end--
	}
	if strings.HasPrefix(run, "--") {
		// A branch of a tree of files.
		start = len(run[:end]) - len(strings.TrimLeft(run[:end], "-"))
	}
	for strings.HasPrefix(run[start:end], "./") {
		start += len("./")
	}
	p := run[start:end]
	if len(p) < minPath || len(p) > maxPath || !hasTwoLetters(p) || p[0] == '/' && commonplace[p] {
		return 0, 0, false
	}
	slash := strings.LastIndexByte(p, '/')
	if slash > 0 && strings.Contains(p[:slash+1], "//") {
		return 0, 0, false
	}
	last := p[slash+1:]
	dot := strings.LastIndexByte(last, '.')
	switch {
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, "../"):
		return start, end, strings.Count(strings.Trim(p, "/~."), "/") >= 1
	case slash >= 0 && dot > 0 && isExtension(last[dot+1:]):
		return start, end, true
	case slash >= 0:
		// Only the sign of the current folder makes it a path.
		return 0, end, start > 0
	default:
		return start, end, dot > 0 && extensions[last[dot+1:]]
	}
}

// endsNoPath says whether a sign behind a path does not belong to it.
func endsNoPath(c byte) bool { return c == '.' || c == '-' || c == '+' || c == '@' }

// isExtension says whether a text can be an extension: a letter and at most seven more letters or digits.
func isExtension(s string) bool {
	if s == "" || len(s) > 8 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !isWordByte(s[i]) || s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func hasTwoLetters(s string) bool {
	for i := 1; i < len(s); i++ {
		if isLetter(s[i-1]) && isLetter(s[i]) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isUUID says whether a text is 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

// dateBytes is the length of a date such as 2026-11-23.
const dateBytes = len("2026-11-23")

// isDate says whether a text begins with a date.
func isDate(s string) bool {
	if len(s) < dateBytes || len(s) > dateBytes && isDigit(s[dateBytes]) {
		return false
	}
	for i := range dateBytes {
		if dash := i == 4 || i == 7; dash != (s[i] == '-') || !dash && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// ticketAt returns the end of a ticket that begins with the word from start to end: 2 to 8 capitals, a dash and 2 to 6
// digits. It returns end where there is none.
func ticketAt(run string, start, end int) int {
	if end-start < 2 || end-start > 8 || end >= len(run) || run[end] != '-' {
		return end
	}
	for i := start; i < end; i++ {
		if run[i] < 'A' || run[i] > 'Z' {
			return end
		}
	}
	stop := end + 1
	for stop < len(run) && isDigit(run[stop]) {
		stop++
	}
	if n := stop - end - 1; n < 2 || n > 6 || stop < len(run) && isWordByte(run[stop]) {
		return end
	}
	return stop
}

// kindOfWord returns what a word names, or 0.
func kindOfWord(w string) Kind {
	n := len(w)
	if n < minWord || n > maxWord {
		return 0
	}
	var digits, upper, lower, under int
	camel := false
	// before are the classes of the two bytes before.
	var before, beforeThat uint8
	for i := range n {
		class := byteClass[w[i]]
		switch {
		case class&small != 0:
			lower++
			camel = camel || before&beforeThat&capital != 0
		case class&capital != 0:
			upper++
			camel = camel || before&(small|digit) != 0
		case class&digit != 0:
			digits++
		case w[i] == '_':
			under++
		}
		before, beforeThat = class, before
	}
	switch {
	case digits == n:
		if n <= maxNumber {
			return Number
		}
		return 0
	case isErrorCode(w, upper, digits) || isBooking(w, upper, digits) || w[0] == 'E' && upper+digits == n && errnos[w]:
		return Code
	case n < minIdentifier:
		return 0
	case digits > 0 && n <= 64 && (upper == 0 || lower == 0) && isHexadecimal(w):
		return ID
	case (camel || under > 0 && innerUnderscore(w)) && digits+under < n:
		return Identifier
	}
	return 0
}

func isHexadecimal(w string) bool {
	for i := range len(w) {
		if !isHex(w[i]) {
			return false
		}
	}
	return true
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// innerUnderscore says whether an underscore stands between letters or digits, or two around the word.
func innerUnderscore(w string) bool {
	t := strings.Trim(w, "_")
	return strings.Contains(t, "_") || strings.HasPrefix(w, "__") && strings.HasSuffix(w, "__")
}

// isErrorCode says whether a word is 1 to 5 capitals and 3 to 6 digits, a signal, or an address in hexadecimal.
func isErrorCode(w string, upper, digits int) bool {
	switch {
	case strings.HasPrefix(w, "SIG") && upper == len(w):
		return len(w) >= 5 && len(w) <= 9
	case strings.HasPrefix(w, "0x") && len(w) >= 6 && len(w) <= 18:
		return strings.Trim(strings.ToLower(w[2:]), "0123456789abcdef") == ""
	}
	return upper >= 1 && upper <= 5 && digits >= 3 && digits <= 6 && upper+digits == len(w) && isUpper(w[upper-1])
}
