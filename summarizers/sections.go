package summarizers

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Heading is one heading of a summary.
type Heading struct {
	// Level is the number of `#` before the title.
	Level int
	Title string
	// Role says what the text below the heading is about. It is UNSPECIFIED if other headings are below it.
	Role compactordv1.SectionRole
}

// Line returns the heading as a summary shows it.
func (h Heading) Line() string { return strings.Repeat("#", h.Level) + " " + h.Title }

// The levels of headings: of sections, and of their subsections.
const (
	sectionLevel    = 2
	subsectionLevel = 3
)

var turnPrefixHeadings = []Heading{
	{sectionLevel, "Original Request", compactordv1.SectionRole_SECTION_ROLE_GOAL},
	{sectionLevel, "Early Progress", compactordv1.SectionRole_SECTION_ROLE_DONE},
	{sectionLevel, "Context for Suffix", compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
}

var rangeHeadings = []Heading{
	{sectionLevel, "Sub-task", compactordv1.SectionRole_SECTION_ROLE_GOAL},
	{sectionLevel, "Outcome", compactordv1.SectionRole_SECTION_ROLE_DONE},
	{sectionLevel, "Findings", compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
}

// NothingBelow is the text below a heading that has nothing to say. A stored summary has it only if no section says
// anything.
const NothingBelow = "(none)"

// skeleton returns the shortest text that has all of the headings and does not end in one.
func skeleton(headings []Heading) string {
	var b strings.Builder
	for _, h := range headings {
		b.WriteString(h.Line() + "\n")
	}
	return b.String() + NothingBelow
}

// Headings returns the headings that a summary of this kind may have, in order: those of the sections, or of the
// standard sections if there are none. The first part of a turn and a range have headings of their own. The caller must
// not change the result.
func Headings(kind Kind, sections []*compactordv1.Section) []Heading {
	switch {
	case kind == Observation:
		return nil
	case kind == TurnPrefix:
		return turnPrefixHeadings
	case kind == Range:
		return rangeHeadings
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

// Groups says whether a heading has others below it, and so no text of its own.
func Groups(headings []Heading, i int) bool {
	return i+1 < len(headings) && headings[i+1].Level > headings[i].Level
}

// instead lists, for a role that no section has, the roles whose section takes its text. anything is tried after it.
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

// anything lists the roles whose section takes text that no other section is for. The first that exists is used.
var anything = []compactordv1.SectionRole{
	compactordv1.SectionRole_SECTION_ROLE_CONTEXT, compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT,
	compactordv1.SectionRole_SECTION_ROLE_DECISIONS, compactordv1.SectionRole_SECTION_ROLE_DONE,
	compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS, compactordv1.SectionRole_SECTION_ROLE_GOAL,
}

// SectionFor returns the index of the heading for text with this role: the first heading with the role, otherwise one
// that takes its text, in the last resort the last heading. `compactord help summaries` lists the order.
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

// HasRole says whether a section has this role.
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
