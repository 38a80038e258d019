package summarizers

import (
	"slices"
	"strconv"
	"strings"
)

// Citations returns the message indexes that a summary cites, ascending and each once. A citation is `[#12]`,
// `[#12, #15]` for several, or `[#12 to #20]` for a run, of which it returns the two ends. A citation that is only quoted
// is escaped by the writer of the summary (`[\#12]`) and does not count.
func Citations(text string) []uint32 {
	var found []uint32
	for {
		open := strings.Index(text, "[#")
		if open < 0 {
			break
		}
		text = text[open:]
		cites, length := CitationAt(text)
		if length == 0 {
			text = text[len("[#"):]
			continue
		}
		found = append(found, cites...)
		text = text[length:]
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// CitationAt returns the indexes of the citation that text begins with, and its length in bytes. The length is 0 if
// text begins with no citation.
func CitationAt(text string) (cites []uint32, length int) {
	if !strings.HasPrefix(text, "[#") {
		return nil, 0
	}
	at := 1
	for at < len(text) && text[at] == '#' {
		at++
		digits := at
		for at < len(text) && text[at] >= '0' && text[at] <= '9' {
			at++
		}
		index, err := strconv.ParseUint(text[digits:at], 10, 32)
		if err != nil {
			return nil, 0
		}
		cites = append(cites, uint32(index))
		switch {
		case strings.HasPrefix(text[at:], "]"):
			return cites, at + 1
		case strings.HasPrefix(text[at:], ", "):
			at += len(", ")
		case strings.HasPrefix(text[at:], " to "):
			at += len(" to ")
		case strings.HasPrefix(text[at:], ","):
			at++
		default:
			return nil, 0
		}
	}
	return nil, 0
}
