package session

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// StandardSections returns the sections of a summary where a policy names none. The caller may change them.
func StandardSections() []*compactordv1.Section {
	return []*compactordv1.Section{
		{Title: "Goal", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
		{Title: "Constraints & Preferences", Role: compactordv1.SectionRole_SECTION_ROLE_CONSTRAINTS},
		{Title: "Progress", Subsections: []*compactordv1.Section{
			{Title: "Done", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
			{Title: "In Progress", Role: compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
			{Title: "Blocked", Role: compactordv1.SectionRole_SECTION_ROLE_PROBLEMS},
		}},
		{Title: "Key Decisions", Role: compactordv1.SectionRole_SECTION_ROLE_DECISIONS},
		{Title: "Next Steps", Role: compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS},
		{Title: "Critical Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
		{Title: "Relevant Files", Role: compactordv1.SectionRole_SECTION_ROLE_FILES},
	}
}

// maxTitleBytes bounds the work on lines that are no title. Titles are shorter.
const maxTitleBytes = 128

// numbering matches the number before a title: `2.`, `2)`, `(2)`, `1.2`.
var numbering = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\(?\d{1,2}(?:\.\d{1,2})?[.)]?[ \t]+`)
})

// TitleKey returns the same key for all spellings of a section's title, such as `Errors & Fixes`, `errors_and_fixes`
// and `2. **Errors & Fixes**:`. It is empty for a text that cannot be a title.
func TitleKey(title string) string {
	if len(title) > maxTitleBytes {
		return ""
	}
	title = strings.TrimLeft(title, " \t*_`<")
	title = strings.TrimLeft(title[len(numbering().FindString(title)):], " \t*_`<")
	var key strings.Builder
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range words {
		if word = strings.ToLower(word); word != "and" {
			key.WriteString(word)
		}
	}
	return key.String()
}

// EndsLine says whether a character ends a line or is a control character, so that no title or path may contain it.
func EndsLine(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }
