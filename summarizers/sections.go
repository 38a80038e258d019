package summarizers

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Heading is a heading of a summary.
type Heading struct {
	// Level is how many number signs stand before the title.
	Level int
	Title string
}

var standardHeadings = []Heading{
	{2, "Goal"},
	{2, "Constraints & Preferences"},
	{2, "Progress"},
	{3, "Done"},
	{3, "In Progress"},
	{3, "Blocked"},
	{2, "Key Decisions"},
	{2, "Next Steps"},
	{2, "Critical Context"},
	{2, "Relevant Files"},
}

var kimiHeadings = []Heading{
	{2, "Current Focus"},
	{2, "Environment"},
	{2, "Completed Tasks"},
	{2, "Active Issues"},
	{2, "Code State"},
	{2, "Important Context"},
}

// piHeadings are the standard ones; files are listed in tags of their own.
var piHeadings = standardHeadings[:len(standardHeadings)-1]

var xbotHeadings = []Heading{
	{2, "Historical Context"},
	{2, "Task Summary"},
	{2, "Key Decisions"},
	{2, "Active Files"},
	{2, "Errors & Fixes"},
	{2, "Recent Work"},
	{2, "Next Steps"},
}

var turnPrefixHeadings = []Heading{
	{2, "Original Request"},
	{2, "Early Progress"},
	{2, "Context for Suffix"},
}

// NothingBelow stands for what a section has none of.
const NothingBelow = "(none)"

// skeleton is the least text that has all of the headings and does not end in one.
func skeleton(headings []Heading) string {
	var b strings.Builder
	for _, h := range headings {
		b.WriteString(strings.Repeat("#", h.Level) + " " + h.Title + "\n")
	}
	return b.String() + NothingBelow
}

// Headings returns the headings that a summary of that kind must have, in order. The caller must not change them.
func Headings(kind Kind, set compactordv1.SectionSet) []Heading {
	switch {
	case kind == Observation:
		return nil
	case kind == TurnPrefix:
		return turnPrefixHeadings
	case set == compactordv1.SectionSet_SECTION_SET_KIMI:
		return kimiHeadings
	case set == compactordv1.SectionSet_SECTION_SET_PI:
		return piHeadings
	case set == compactordv1.SectionSet_SECTION_SET_XBOT:
		return xbotHeadings
	default:
		return standardHeadings
	}
}
