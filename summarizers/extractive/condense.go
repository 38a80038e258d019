package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// sentence is a statement of a request, with its number among all statements.
type sentence struct {
	text   string
	number int
	// follows says that the statement before it is in the same paragraph.
	follows bool
}

// condensed is what condense made of a text.
type condensed struct {
	of     string
	limit  int
	result string
}

// within returns condense(text, limit). The same line is written several times until its summary fits.
func (c *condensed) within(text string, limit int) string {
	if c.of != text || c.limit != limit {
		*c = condensed{text, limit, condense(text, limit)}
	}
	return c.result
}

// condense returns the sentences of a long request that say what it is about, in their order: its first one, the one
// that asks for something, and then as many of the others as fit, from the beginning. If it finds no sentences, it cuts
// the middle out of the text.
func condense(text string, limit int) string {
	if units(text) <= limit {
		return text
	}
	list, asked := sentencesOf(text)
	if len(list) == 0 {
		return shorten(text, limit)
	}
	picked := []sentence{list[0]}
	if asked > 0 {
		question := list[asked]
		question.text = shorten(question.text, max(limit/2, limit-units(list[0].text)-gapUnits))
		picked[0].text = shorten(list[0].text, limit-units(question.text)-gapUnits)
		picked = append(picked, question)
	}
	picked[0].text = shorten(picked[0].text, limit)
	size := units(textOfSentences(picked))
	for i := 1; i < len(list) && size < limit; i++ {
		if i == asked {
			continue
		}
		if size += units(list[i].text) + gapUnits; size <= limit {
			picked = append(picked, list[i])
		}
	}
	slices.SortFunc(picked, func(a, b sentence) int { return a.number - b.number })
	return shorten(textOfSentences(picked), limit)
}

// textOfSentences writes sentences on one line, and shows where others are left out.
func textOfSentences(list []sentence) string {
	var b strings.Builder
	for i, s := range list {
		switch {
		case i == 0:
		case s.number > list[i-1].number+1:
			b.WriteString(gap)
		case s.follows:
			b.WriteByte(' ')
		default:
			b.WriteString(lineBreak)
		}
		b.WriteString(s.text)
	}
	return b.String()
}

// maxSentences is how many sentences of a request are looked at.
const maxSentences = 200

// titleLines is how many lines of a text may come before its title.
const titleLines = 5

// titleOf returns the title of a document: its first heading, if that is of the highest level and near the beginning.
func titleOf(text string) string {
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if title, ok := strings.CutPrefix(line, "# "); ok && contentOf(title) > 1 {
			return oneLine(title)
		}
		if n++; n == titleLines || strings.HasPrefix(line, "```") {
			break
		}
	}
	return ""
}

// sentencesOf returns the sentences of a request, and which of them asks for something. That is 0 if it is the first one
// or if none does.
func sentencesOf(text string) (list []sentence, asked int) {
	text, _ = summarizers.WithoutBlocks(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), "<!--", "-->")
	text = withoutInstructions(text)
	if title := titleOf(text); title != "" {
		list = append(list, sentence{text: title})
	}
	number := 0
	eachStatement(text, never, func(st statement) {
		number++
		body := bare(withoutTags(st.text))
		if st.heads || len(list) == maxSentences || contentUpTo(body, 2) < 2 || !looksWritten(body) || isField(body) {
			return
		}
		list = append(list, sentence{text: body, number: number, follows: st.follows})
	})
	for _, asks := range []func(string) bool{func(s string) bool { return requests(s) && !goesOn(s) }, opensTask} {
		if i := slices.IndexFunc(list, func(s sentence) bool { return asks(s.text) }); i >= 0 {
			return list, i
		}
	}
	return list, 0
}
