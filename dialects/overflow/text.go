package overflow

import "strings"

// How much of a text is searched. Bodies of errors are short. In a longer text, such as a program's trace, the error is
// at one of the ends.
const (
	headBytes = 48 << 10
	tailBytes = 16 << 10
)

// unescape removes the escapes that JSON within JSON adds to a sentence. The result is only for searching.
var unescape = strings.NewReplacer(
	`\u003e`, ">", `\u003c`, "<", `\u0026`, "&", `\u0027`, "'", `\u0060`, "`", `\u2019`, "'",
	`\n`, " ", `\r`, " ", `\t`, " ", `\`, "",
)

// searchable is the text as rules search it: bounded, in lower case, without escapes.
func searchable(text string) string {
	if len(text) > headBytes+tailBytes {
		text = text[:headBytes] + "\n" + text[len(text)-tailBytes:]
	}
	return strings.ToLower(unescape.Replace(strings.TrimSpace(text)))
}
