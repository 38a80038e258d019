package extractive

import (
	"math"
	"strings"
)

// errorScore returns how surely a line reports an error, and the position of the word that shows it. The score is 4 if
// the line begins with an error, 3 if it has the form of an error message, 2 or 1 for weaker words, and 0 for none.
func errorScore(line string) (score, at int) {
	for i := 0; i+1 < len(line); i++ {
		b := line[i]
		if followers[b]>>(line[i+1]&31)&1 == 0 {
			continue
		}
		s := 0
		switch b {
		case 'e', 'E':
			s = scoreE(line, i)
		case 'f', 'F':
			s = scoreF(line, i)
		case 'p', 'P':
			if hasPrefixAnyCase(line[i:], "panic:") || hasPrefixAnyCase(line[i:], "permission denied") || strings.HasPrefix(line[i:], "panicked at") {
				s = 3
			}
		case 'T':
			if strings.HasPrefix(line[i:], "Traceback (most") {
				s = 1
			}
		case 'c', 'C':
			if hasPrefixAnyCase(line[i:], "cannot find") || hasPrefixAnyCase(line[i:], "command not found") || hasPrefixAnyCase(line[i:], "connection refused") {
				s = 3
			} else if hasPrefixAnyCase(line[i:], "cannot ") {
				s = 1
			}
		case 'n', 'N':
			if hasPrefixAnyCase(line[i:], "no such file") || hasPrefixAnyCase(line[i:], "not found") {
				s = 2
			}
		case 'u':
			if strings.HasPrefix(line[i:], "undefined:") || strings.HasPrefix(line[i:], "undefined reference") {
				s = 3
			}
		case '_':
			// A failed check of a Go test begins with file and line.
			if strings.HasPrefix(line[i:], "_test.go:") && i < 80 && !logsSuccess(line) {
				s = 3
			}
		case 0xE9, 0xE5, 0xE6:
			s = scoreIdeographs(line, i)
		}
		if s > 0 && i == 0 {
			s++
		}
		if s > score {
			score, at = min(s, 4), i
			if score == 4 {
				break
			}
		}
	}
	return score, at
}

// followers are the second letters of the words that can show an error, by their first byte: a bit for each letter in
// either case. Most pairs of letters begin no such word.
var followers = func() (set [256]uint32) {
	for first, second := range map[byte]string{'e': "rx ", 'f': "a", 'p': "ae", 'c': "ao", 'n': "o", 'u': "n"} {
		for i := range len(second) {
			set[first] |= 1 << (second[i] & 31)
		}
		set[first-'a'+'A'] = set[first]
	}
	set['U'], set['T'] = 0, 1<<('r'&31)
	for _, first := range []byte("_\xE9\xE5\xE6") {
		set[first] = math.MaxUint32
	}
	return set
}()

// scoreIdeographs scores the Chinese words for errors at i. A colon after one makes it an error message.
func scoreIdeographs(line string, i int) int {
	for _, word := range []string{"错误", "失败", "异常", "报错"} {
		rest, ok := strings.CutPrefix(line[i:], word)
		if !ok {
			continue
		}
		if i < 12 && (strings.HasPrefix(rest, "：") || strings.HasPrefix(rest, ":")) {
			return 3
		}
		return 1
	}
	return 0
}

// scoreE scores "error", "exception" and "ERR!" at i.
func scoreE(line string, i int) int {
	rest := line[i:]
	switch {
	case strings.HasPrefix(rest, "ERR!"):
		return 4
	case strings.HasPrefix(rest, "ERR_") && (i == 0 || !isLetter(line[i-1])):
		return 2
	case i == 0 && strings.HasPrefix(rest, "E   "):
		return 3
	case hasPrefixAnyCase(rest, "error"):
		rest = rest[len("error"):]
	case hasPrefixAnyCase(rest, "exception"):
		rest = rest[len("exception"):]
	default:
		return 0
	}
	// A name that ends in this word counts (ValueError); the word within a longer one (stderr, errors.New) does not.
	inName := i > 0 && isLetter(line[i-1])
	if inName && line[i] != 'E' {
		return 0
	}
	count := counted(line[:i])
	switch {
	case count == countNone:
		return 0
	case count == countSome && endsWord(strings.TrimPrefix(rest, "s")):
		return 3
	case rest == "" && (i == 0 || inName && strings.IndexByte(line, ' ') < 0):
		return 3
	case rest == "":
		return 1
	case rest[0] == ':' && saysNone(rest[1:]):
		return 0
	case len(rest) > 1 && rest[0] == ' ' && line[i] == 'E' && rest[1] > '0' && rest[1] <= '9':
		return 3
	case rest[0] == ':' && !inName, rest[0] == '[':
		if inName || strings.HasPrefix(rest, "[]") {
			return 1
		}
		return 3
	case rest[0] == ':' && len(rest) > 1 && rest[1] == ' ':
		if i < 80 && strings.IndexByte(line[:i], ' ') < 0 {
			return 4
		}
		return 3
	case strings.HasPrefix(rest, " TS") || strings.HasPrefix(rest, " CS") || strings.HasPrefix(rest, " E") || strings.HasPrefix(rest, " C"):
		return 3
	case isLetter(rest[0]) || rest[0] == '.' || rest[0] == '_' || rest[0] == '(' || rest[0] == ')' || rest[0] == ',' || rest[0] == ';':
		return 0
	case line[i:i+2] == "ER" && rest[0] != '`' && rest[0] != '"' && rest[0] != '\'':
		return 3
	}
	return 1
}

// endsWord says whether the word before this text ended there, and is not a part of a name.
func endsWord(rest string) bool {
	return rest == "" || strings.IndexByte(" ,;:!)\t", rest[0]) >= 0 || rest == "."
}

// count says which number precedes a word for errors.
type count uint8

const (
	uncounted count = iota
	countNone
	countSome
)

// counted reads the number at the end of a text, as in "12 tests ", or the word "no".
func counted(before string) count {
	if !strings.HasSuffix(before, " ") {
		return uncounted
	}
	before = before[:len(before)-1]
	for _, what := range []string{" tests", " test", " checks", " suites", " specs", " cases", " jobs"} {
		if rest, ok := strings.CutSuffix(before, what); ok {
			before = rest
			break
		}
	}
	start := len(before)
	for start > 0 && before[start-1] >= '0' && before[start-1] <= '9' {
		start--
	}
	digits := before[start:]
	switch {
	case digits == "":
		if hasPrefixAnyCase(before[max(0, len(before)-2):], "no") && (len(before) == 2 || !isLetter(before[len(before)-3])) {
			return countNone
		}
		return uncounted
	case start > 0 && (isLetter(before[start-1]) || before[start-1] == '.' || before[start-1] == ':'):
		return uncounted
	case strings.Trim(digits, "0") == "":
		return countNone
	}
	return countSome
}

// saysNone says whether the text after "error:" means that there was no error.
func saysNone(rest string) bool {
	rest = strings.TrimSpace(rest)
	if len(rest) > 8 {
		return false
	}
	switch strings.ToLower(strings.Trim(rest, "\"'(),.")) {
	case "none", "null", "nil", "0", "no", "false", "n/a", "0.0", "-":
		return true
	}
	return false
}

// scoreF scores "fail", "failed" and "fatal" at i.
func scoreF(line string, i int) int {
	rest := line[i:]
	if i > 0 && isLetter(line[i-1]) {
		return 0
	}
	switch {
	case hasPrefixAnyCase(rest, "fatal:") || hasPrefixAnyCase(rest, "fatal error"):
		return 3
	case strings.HasPrefix(rest, "FAIL"):
		if strings.HasPrefix(line, "---") || strings.HasPrefix(rest, "FAILED") || len(rest) == 4 || rest[4] == ' ' || rest[4] == ':' || rest[4] == '\t' || strings.HasPrefix(rest, "FAILURE") {
			return scoreCounted(line, i, 3)
		}
		return 1
	case i == 0 && hasPrefixAnyCase(rest, "failed to "):
		return 2
	case hasPrefixAnyCase(rest, "failed"), hasPrefixAnyCase(rest, "failure"), hasPrefixAnyCase(rest, "failing"):
		return scoreCounted(line, i, 1)
	}
	return 0
}

// scoreCounted returns the score of a word at i, depending on the number before it.
func scoreCounted(line string, i, score int) int {
	switch counted(line[:i]) {
	case countNone:
		return 0
	case countSome:
		return 3
	default:
		return score
	}
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// hasPrefixAnyCase says whether s begins with prefix, ignoring case. prefix must be in lower case.
func hasPrefixAnyCase(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := 0; i < len(prefix); i++ {
		b := s[i]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != prefix[i] {
			return false
		}
	}
	return true
}
