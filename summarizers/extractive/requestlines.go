package extractive

import "strings"

// rowMark begins each line of a request but the first. It is as long as the sign for a line end, so that a request
// takes the same space on one line and on several.
const rowMark = "| "

// overLines shows a request on the lines that the user wrote.
func overLines(text string) string { return strings.ReplaceAll(text, lineBreak, "\n"+rowMark) }

// firstLine splits the first line off a summary, and puts a request that stands on several lines on one. Of those, only
// the last one can have a citation. Rows of a table that somebody else wrote have none, and end with the mark.
func firstLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	rows, after, table := strings.TrimRight(line, "\r"), rest, false
	for strings.HasPrefix(after, rowMark) && len(rows) < maxLine {
		var row string
		row, after, _ = strings.Cut(after[len(rowMark):], "\n")
		row = strings.TrimSpace(row)
		rows += lineBreak + row
		if _, cites := splitCitation(row); len(cites) > 0 {
			return rows, after
		}
		table = table || strings.HasSuffix(row, "|")
	}
	if table {
		return line, rest
	}
	return rows, after
}
