package strategies

import (
	"fmt"
	"strings"
	"unicode"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// checkSections returns a PolicyError if the sections of a policy's summaries cannot be distinguished or have no
// contents.
func checkSections(p *compactordv1.Policy) error {
	c := sectionsCheck{titled: map[string]string{}}
	return c.list("policy.summary.sections.sections", p.GetSummary().GetSections().GetSections(), true)
}

// sectionsCheck holds the field of each title that it has seen, by the title's key.
type sectionsCheck struct{ titled map[string]string }

// list checks the sections in a field. outer says that they may have subsections.
func (c *sectionsCheck) list(field string, sections []*compactordv1.Section, outer bool) error {
	for i, s := range sections {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := c.title(at+".title", s.GetTitle()); err != nil {
			return err
		}
		var err error
		switch below := s.GetSubsections(); {
		case len(below) > 0 && !outer:
			err = &PolicyError{Field: at + ".subsections", What: "a subsection has no others below it; put them beside it"}
		case len(below) > 0 && s.GetRole() != compactordv1.SectionRole_SECTION_ROLE_UNSPECIFIED:
			err = &PolicyError{Field: at + ".role", What: "a section with subsections has no lines of its own; leave the role out"}
		case len(below) > 0:
			err = c.list(at+".subsections", below, false)
		case s.GetRole() == compactordv1.SectionRole_SECTION_ROLE_UNSPECIFIED:
			err = &PolicyError{
				Field: at + ".role", What: "say what stands in the section, such as SECTION_ROLE_CONTEXT for what has no other",
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// title checks that a title is valid in a heading, and that the heading can be recognized.
func (c *sectionsCheck) title(field, title string) error {
	key := session.TitleKey(title)
	same, known := c.titled[key]
	what := ""
	switch {
	case strings.ContainsFunc(title, session.EndsLine):
		what = "a title stands in one line; take out line breaks and control characters"
	case strings.TrimSpace(title) != title:
		what = "take off the white space at its ends"
	case strings.HasPrefix(title, "#"):
		what = "give the title without the `#` of a heading"
	case strings.Contains(title, "[#"):
		what = "a title cites no message; take out the `[#`"
	case !strings.ContainsFunc(key, unicode.IsLetter):
		what = "a title needs a letter beside numbers, punctuation and the word `and`"
	case known:
		what = same + " reads the same in a heading; give this one another title"
	}
	if what != "" {
		return &PolicyError{Field: field, What: what}
	}
	c.titled[key] = field
	return nil
}
