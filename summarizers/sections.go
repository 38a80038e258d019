package summarizers

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Heading is a heading of a summary.
type Heading struct {
	// Level is how many number signs stand before the title.
	Level int
	Title string
	// Role says what stands below it; UNSPECIFIED where other headings do.
	Role compactordv1.SectionRole
}

// Line is the heading as it stands in a summary.
func (h Heading) Line() string { return strings.Repeat("#", h.Level) + " " + h.Title }

// The levels of the headings of sections and of those below them.
const (
	sectionLevel    = 2
	subsectionLevel = 3
)

var turnPrefixHeadings = []Heading{
	{sectionLevel, "Original Request", compactordv1.SectionRole_SECTION_ROLE_GOAL},
	{sectionLevel, "Early Progress", compactordv1.SectionRole_SECTION_ROLE_DONE},
	{sectionLevel, "Context for Suffix", compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
}

// NothingBelow stands for what a section has none of.
const NothingBelow = "(none)"

// skeleton is the least text that has all of the headings and does not end in one.
func skeleton(headings []Heading) string {
	var b strings.Builder
	for _, h := range headings {
		b.WriteString(h.Line() + "\n")
	}
	return b.String() + NothingBelow
}

// Headings returns the headings that a summary of that kind must have, in order: those of the sections, or of the standard
// ones where there are none. A turn's first part has its own. The caller must not change them.
func Headings(kind Kind, sections []*compactordv1.Section) []Heading {
	switch {
	case kind == Observation:
		return nil
	case kind == TurnPrefix:
		return turnPrefixHeadings
	case len(sections) == 0:
		sections = session.StandardSections()
	}
	var headings []Heading
	for _, s := range sections {
		headings = append(headings, Heading{sectionLevel, s.GetTitle(), s.GetRole()})
		for _, below := range s.GetSubsections() {
			headings = append(headings, Heading{subsectionLevel, below.GetTitle(), below.GetRole()})
		}
	}
	return headings
}

// Groups says whether a heading has others below it, and no lines of its own.
func Groups(headings []Heading, i int) bool {
	return i+1 < len(headings) && headings[i+1].Level > headings[i].Level
}

// instead are the roles in whose section stands what a list has no section for, before those of anything.
var instead = map[compactordv1.SectionRole][]compactordv1.SectionRole{
	compactordv1.SectionRole_SECTION_ROLE_GOAL:        {compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
	compactordv1.SectionRole_SECTION_ROLE_CONSTRAINTS: {compactordv1.SectionRole_SECTION_ROLE_GOAL},
	compactordv1.SectionRole_SECTION_ROLE_DONE:        {compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
	compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS: {compactordv1.SectionRole_SECTION_ROLE_DONE},
	compactordv1.SectionRole_SECTION_ROLE_PROBLEMS: {
		compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS, compactordv1.SectionRole_SECTION_ROLE_DONE,
	},
	compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS: {compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
	compactordv1.SectionRole_SECTION_ROLE_FILES:      {compactordv1.SectionRole_SECTION_ROLE_CODE},
	compactordv1.SectionRole_SECTION_ROLE_CODE:       {compactordv1.SectionRole_SECTION_ROLE_FILES},
}

// anything are the roles in whose section stands what nothing else in a list is for, the first that there is.
var anything = []compactordv1.SectionRole{
	compactordv1.SectionRole_SECTION_ROLE_CONTEXT, compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT,
	compactordv1.SectionRole_SECTION_ROLE_DECISIONS, compactordv1.SectionRole_SECTION_ROLE_DONE,
	compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS, compactordv1.SectionRole_SECTION_ROLE_GOAL,
}

// SectionFor returns the heading below which stands what the role says: the first with that role, else one that takes it in,
// at worst the last. the topic summaries has the order.
func SectionFor(headings []Heading, role compactordv1.SectionRole) int {
	if i, ok := withRole(headings, role); ok {
		return i
	}
	for _, roles := range [][]compactordv1.SectionRole{instead[role], anything} {
		for _, other := range roles {
			if i, ok := withRole(headings, other); ok {
				return i
			}
		}
	}
	return len(headings) - 1
}

// HasRole says whether a section is for what the role says.
func HasRole(headings []Heading, role compactordv1.SectionRole) bool {
	_, ok := withRole(headings, role)
	return ok
}

func withRole(headings []Heading, role compactordv1.SectionRole) (int, bool) {
	for i, h := range headings {
		if h.Role == role && !Groups(headings, i) {
			return i, true
		}
	}
	return 0, false
}
