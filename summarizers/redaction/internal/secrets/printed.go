package secrets

import "strings"

// findPrintedSecret finds what kubectl prints for a field of a Secret.
func findPrintedSecret(r *reading, rule, _, end int) {
	command, at := commandRest(r.text, end)
	if at == 0 || !strings.Contains(command, "jsonpath") && !strings.Contains(command, "template") {
		return
	}
	r.until[rule] = at
	if line := lineBreak(r.text, at); strings.Contains(command, "base64 -") && chosenWord(r.text[at:line]) {
		r.add(rule, at, line)
		return
	}
	stop := runOf(r.text, at, &base64Bytes, valueBytes)
	if text := r.text[at:stop]; len(text) >= 8 && (stop == len(r.text) || r.text[stop] <= ' ') &&
		(printable(text) || strings.Contains(command, "base64") && tellable(text)) {
		r.add(rule, at, stop)
	}
}

// findDrawnKey finds what a command prints that draws keys.
func findDrawnKey(r *reading, rule, _, end int) {
	command, at := commandRest(r.text, end)
	if at == 0 || strings.IndexByte(command, '>') >= 0 {
		return
	}
	r.until[rule] = at
	stop := runOf(r.text, at, &base64Bytes, valueBytes)
	if text := r.text[at:stop]; (stop == len(r.text) || r.text[stop] == '\n') && (randomLike(text) || hexLike(text) && len(text) >= 32) {
		r.add(rule, at, stop)
	}
}

// commandRest returns the rest of a command, and where its output begins: 0 if it has none.
func commandRest(text string, at int) (command string, output int) {
	command, _, found := strings.Cut(text[at:min(at+512, len(text))], "\n")
	if !found {
		return "", 0
	}
	return command, at + len(command) + 1
}
