package sessiontest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// SectionLists returns the lists of sections of presets, by name.
func SectionLists() map[string][]*compactordv1.Section {
	standard := session.StandardSections()
	return map[string][]*compactordv1.Section{
		"standard":      standard,
		"without_files": standard[:len(standard)-1],
		"code":          CodeSections(),
		"recent_work": {
			{Title: "Historical Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
			{Title: "Task Summary", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
			{Title: "Key Decisions", Role: compactordv1.SectionRole_SECTION_ROLE_DECISIONS},
			{Title: "Active Files", Role: compactordv1.SectionRole_SECTION_ROLE_FILES},
			{Title: "Errors & Fixes", Role: compactordv1.SectionRole_SECTION_ROLE_PROBLEMS},
			{Title: "Recent Work", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
			{Title: "Next Steps", Role: compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS},
		},
	}
}

// CodeSections returns the list that has a section for code and none for the goal.
func CodeSections() []*compactordv1.Section {
	return []*compactordv1.Section{
		{Title: "Current Focus", Role: compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
		{Title: "Environment", Role: compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT},
		{Title: "Completed Tasks", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
		{Title: "Active Issues", Role: compactordv1.SectionRole_SECTION_ROLE_PROBLEMS},
		{Title: "Code State", Role: compactordv1.SectionRole_SECTION_ROLE_CODE},
		{Title: "Important Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
	}
}

// Sections returns a random list of sections that a policy may have, or a preset's list.
func Sections(t *rapid.T) []*compactordv1.Section {
	return drawnSections(t, slices.Concat(words, signs))
}

// WordySections is Sections, but all titles consist of words.
func WordySections(t *rapid.T) []*compactordv1.Section { return drawnSections(t, words) }

func drawnSections(t *rapid.T, pieces []string) []*compactordv1.Section {
	if chance(t, 25, "sections of a preset") {
		return SectionLists()[oneOf(t, "list", []string{"standard", "without_files", "code", "recent_work"})]
	}
	d := sectionDraw{pieces: pieces, seen: map[string]bool{}}
	list := make([]*compactordv1.Section, between(t, 1, 8, "sections"))
	for i := range list {
		list[i] = d.section(t, true)
	}
	return list
}

// sectionDraw makes random sections with different titles.
type sectionDraw struct {
	pieces []string
	seen   map[string]bool
}

func (d *sectionDraw) section(t *rapid.T, outer bool) *compactordv1.Section {
	s := &compactordv1.Section{Title: d.title(t)}
	if outer && chance(t, 15, "group") {
		s.Subsections = make([]*compactordv1.Section, between(t, 1, 3, "subsections"))
		for i := range s.GetSubsections() {
			s.Subsections[i] = d.section(t, false)
		}
		return s
	}
	s.Role = compactordv1.SectionRole(between(t, 1, len(compactordv1.SectionRole_name)-1, "role"))
	return s
}

// words make titles in several scripts. Some are the beginning of others, and some are in other lists.
var words = []string{
	"Goal", "Goals", "Done", "In Progress", "Next Steps", "Critical Context", "Environment", "Early Progress", "Original Request",
	"目标", "目标与约束", "已完成", "下一步", "重要背景", "Ziel", "Zwischenstand", "Стан", "目的", "とりくみ", "한국어", "हिन्दी", "مرحلة", "é", "Q2",
}

// signs make titles that look like Markdown, tags, labels, references, or words for nothing.
var signs = []string{
	"&", "and", "-", "- ", "1.", "2", "C#", "(x)", "[ ]", "**", "__", ":", "：", "Request:", "Note: ", "> ", "`a`", "```",
	"<b>", "</goal>", "<conversation>", "|", "===", "\\", "(none)", "none", "§", "🎯",
}

func (d *sectionDraw) title(t *rapid.T) string {
	var title strings.Builder
	for range between(t, 1, 3, "pieces") {
		title.WriteString(oneOf(t, "piece", d.pieces) + oneOf(t, "between", []string{"", " "}))
	}
	text := strings.TrimLeft(strings.TrimSpace(title.String()), "#")
	for n := 0; !strings.ContainsFunc(session.TitleKey(text), unicode.IsLetter) || d.seen[session.TitleKey(text)]; n++ {
		text = fmt.Sprintf("%s x%d", text, n)
	}
	d.seen[session.TitleKey(text)] = true
	return text
}
