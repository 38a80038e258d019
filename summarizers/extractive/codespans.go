package extractive

import "strings"

// gapInCode is a gap between two code spans.
const gapInCode = "`" + gap + "`"

// codeSpans returns code in backquotes. Each part of shortened code has a span of its own, so that every span stands so
// in the source.
func codeSpans(code string) string {
	code = strings.ReplaceAll(code, gap, gapInCode)
	if head, cut := strings.CutSuffix(code, openGap); cut {
		return "`" + head + "`" + openGap
	}
	return "`" + code + "`"
}

// cutSpans reads the code that codeSpans wrote, from behind the first backquote. It returns false if no span ends.
func cutSpans(text string) (code, rest string, ok bool) {
	code, rest, ok = strings.Cut(text, "`")
	for {
		next, more := strings.CutPrefix(rest, gap+"`")
		part, after, closed := strings.Cut(next, "`")
		if !more || !closed {
			break
		}
		code, rest = code+gap+part, after
	}
	if after, cut := strings.CutPrefix(rest, openGap); ok && cut {
		code, rest = code+openGap, after
	}
	return code, rest, ok
}
