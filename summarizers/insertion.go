package summarizers

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// EndOfSection divides a stored summary at the end of the section for text with this role: lines for that section go
// between the two parts. If the summary has no such section, the first part ends in its heading.
func EndOfSection(req *Request, summary string, role compactordv1.SectionRole) (before, after string) {
	headings := Headings(req.Kind, req.Sections)
	section := SectionFor(headings, role)
	read := readSections(summary, headings)
	at := -1
	for i, m := range read.marks {
		if m.section == section {
			at = i
		}
	}
	if at < 0 {
		return strings.TrimRight(summary, " \t\r\n") + "\n\n" + headings[section].Line() + "\n", ""
	}
	end := len(summary)
	if at+1 < len(read.marks) {
		end = read.marks[at+1].start
	}
	before = strings.TrimRight(summary[:end], " \t\r\n")
	after = summary[len(before):]
	if read.bodies[section] == NothingBelow {
		before = strings.TrimRight(strings.TrimSuffix(before, NothingBelow), " \t\r\n")
	}
	return before + "\n", after
}
