package extractive

import (
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

// quoteForm is how quotes of a message look.
type quoteForm struct {
	// first begins their first line, before the citation, and next the other lines.
	first, next    string
	encode, decode func(string) string
}

// What a tool said stands in lines that its words cannot imitate.
var (
	agentQuote = quoteForm{first: "- ", next: "  ", encode: escapeCitations, decode: unescapeCitations}
	toolQuote  = quoteForm{first: quotation.Mark, next: quotation.Mark, encode: quotation.Encode, decode: decodedWords}
)

func decodedWords(text string) string {
	words, ok := quotation.Decode(text)
	if !ok {
		return text
	}
	return words
}

// words returns a text as a line shows it. A backslash says that it is no line of another kind.
func (f quoteForm) words(text string) string {
	text = f.encode(oneLine(text))
	_, _, counts := resultsIn(text)
	_, tells := readFileLine(text)
	if strings.HasPrefix(text, `\`) || strings.HasPrefix(text, namesOnly) || counts || tells || opensCode(text) {
		return `\` + text
	}
	return text
}

// read is the inverse of words.
func (f quoteForm) read(text string) string { return f.decode(strings.TrimPrefix(text, `\`)) }

// file returns the line that says which file a result is of.
func (f quoteForm) file(path string) string { return fileLine(f.encode(path)) }

// openQuote reads the mark of a line that begins quotes.
func openQuote(line string) (body string, form quoteForm, ok bool) {
	line = strings.TrimSpace(line)
	if body, ok = strings.CutPrefix(line, toolQuote.first); ok {
		return body, toolQuote, true
	}
	body, ok = listItem(line)
	return body, agentQuote, ok
}
