package summarizers

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// EndOfSection divides a stored summary at the end of the section for text with this role: lines for that section go
// between the two parts. If the summary has no such section, since that says nothing, the first part ends in its heading.
func EndOfSection(req *Request, summary string, role compactordv1.SectionRole) (before, after string) {
	headings := Headings(req.Kind, req.Sections)
	section := SectionFor(headings, role)
	read := readSections(summary, headings)
	if !read.marked[section] {
		return read.withHeading(section)
	}
	end := len(summary)
	for _, m := range slices.Backward(read.marks) {
		if m.section == section {
			break
		}
		end = m.start
	}
	before = strings.TrimRight(summary[:end], " \t\r\n")
	after = summary[len(before):]
	if read.bodies[section] == "" {
		before = strings.TrimRight(strings.TrimSuffix(before, NothingBelow), " \t\r\n")
	}
	return before + "\n", after
}

// withHeading divides the text where a missing section belongs, and ends the first part in its heading. The heading of
// its group comes before it, unless the text has that.
func (s *sectioned) withHeading(section int) (before, after string) {
	end := len(s.text)
	for _, m := range s.marks {
		if m.section > section {
			end = m.start
			break
		}
	}
	var parts []string
	if before = strings.TrimRight(s.text[:end], " \t\r\n"); before != "" {
		parts = append(parts, before)
	}
	if group := parentOf(s.headings, section); group >= 0 && !s.marked[group] {
		parts = append(parts, s.headings[group].Line())
	}
	parts = append(parts, s.headings[section].Line())
	if after = strings.TrimLeft(s.text[end:], "\r\n"); after != "" {
		after = "\n\n" + after
	}
	return strings.Join(parts, "\n\n") + "\n", after
}
