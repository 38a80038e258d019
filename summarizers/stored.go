package summarizers

import (
	"slices"
	"sort"
	"strings"
)

// Stored returns a summary in the form in which it is stored: the sections that say something, in order, under our
// headings, whatever headings or tags mark them in the text. A heading that groups others is written if one of them is.
// If no section says anything, the first heading is written with NothingBelow. No other line is lost except those marks:
// text before the first section stays there, and a section that occurs twice contains both texts. A text without any
// section, or one written by other instructions, stays unchanged, and so does one that our headings would bring over its
// limits.
func Stored(req *Request, text string) string {
	stored, _ := counted(req, text)
	return stored
}

// counted returns a summary in the form in which it is stored, and its tokens.
func counted(req *Request, text string) (stored string, tokens uint32) {
	if req.Kind == Observation || req.PromptOverride != "" {
		return text, req.Count(text)
	}
	stored = inStoredForm(text, Headings(req.Kind, req.Sections))
	if tokens = req.Count(stored); stored == text || tokens <= req.MaxTokens && tokens < req.Replaces {
		return stored, tokens
	}
	return text, req.Count(text)
}

// inStoredForm writes the sections anew until nothing changes. Once the mark of an empty section or the tags around a
// text are removed, another line may be the clearest mark of a section.
func inStoredForm(text string, headings []Heading) string {
	for range len(headings) + 1 {
		read := readSections(text, headings)
		if len(read.marks) == 0 || read.inShape() {
			break
		}
		text = read.render()
	}
	return text
}

// sectioned is a summary divided into its sections.
type sectioned struct {
	text     string
	headings []Heading
	marks    []mark
	// closings are the tags that close sections, in the order of the text.
	closings []mark
	// bodies are the texts of the sections, "" for those that say nothing.
	bodies []string
	// marked says which sections have a mark, and written which of them belong in the stored form.
	marked, written []bool
}

func readSections(text string, headings []Heading) *sectioned {
	s := &sectioned{
		text: text, headings: headings, marks: marksOf(text, headings),
		bodies: make([]string, len(headings)), marked: make([]bool, len(headings)), written: make([]bool, len(headings)),
	}
	for _, m := range s.marks {
		if m.closeEnd > 0 {
			s.closings = append(s.closings, m)
		}
	}
	slices.SortFunc(s.closings, func(a, b mark) int { return a.closeStart - b.closeStart })
	bodies := make([][]string, len(headings))
	for i, m := range s.marks {
		s.marked[m.section] = true
		if body := s.below(i); !isNothing(body) {
			bodies[m.section] = append(bodies[m.section], body)
		}
	}
	for i, parts := range bodies {
		if len(parts) == 0 {
			continue
		}
		s.bodies[i], s.written[i] = strings.Join(parts, "\n\n"), true
		if parent := parentOf(headings, i); parent >= 0 {
			s.written[parent] = true
		}
	}
	return s
}

// below returns the text below a mark, without the tags in it that close sections.
func (s *sectioned) below(i int) string {
	m := s.marks[i]
	end := len(s.text)
	if i+1 < len(s.marks) {
		end = s.marks[i+1].start
	}
	var b strings.Builder
	if m.rest != "" {
		b.WriteString(m.rest + "\n")
	}
	at := m.end
	first := sort.Search(len(s.closings), func(c int) bool { return s.closings[c].closeStart >= m.end })
	for _, c := range s.closings[first:] {
		if c.closeEnd > end {
			break
		}
		b.WriteString(s.text[at:c.closeStart])
		at = c.closeEnd
	}
	b.WriteString(s.text[at:end])
	return withoutBlankEnds(b.String())
}

// withoutBlankEnds removes blank lines at both ends, and white space at the end.
func withoutBlankEnds(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

// preamble returns the text before the first section.
func (s *sectioned) preamble() string { return withoutBlankEnds(s.text[:s.marks[0].start]) }

// inShape says whether the text is already in the stored form: each section that says something once, in order, under
// its heading, and no other.
func (s *sectioned) inShape() bool {
	last := -1
	for i, m := range s.marks {
		if m.section <= last || !m.canonical || !s.written[m.section] || s.below(i) != s.bodies[m.section] {
			return false
		}
		last = m.section
	}
	return slices.Equal(s.marked, s.written)
}

// render writes the sections that say something under our headings, or the first heading if there are none.
func (s *sectioned) render() string {
	var parts []string
	if before := s.preamble(); before != "" {
		parts = append(parts, before)
	}
	for i, h := range s.headings {
		switch {
		case s.bodies[i] != "":
			parts = append(parts, h.Line()+"\n"+s.bodies[i])
		case s.written[i]:
			parts = append(parts, h.Line())
		}
	}
	if !slices.Contains(s.written, true) {
		parts = append(parts, s.headings[0].Line()+"\n"+NothingBelow)
	}
	return strings.Join(parts, "\n\n")
}

// endsInHeading says whether the text ends in a heading, which shows that it was cut off. A last section without text
// is only an empty section if no section is missing and it occurs once, or if its tag is closed.
func (s *sectioned) endsInHeading() bool {
	last := len(s.marks) - 1
	if last < 0 || s.below(last) != "" {
		end := s.text[strings.LastIndexByte(s.text, '\n')+1:]
		return strings.HasPrefix(end, "#") && titleOf(end) != ""
	}
	m := s.marks[last]
	again := slices.ContainsFunc(s.marks[:last], func(o mark) bool { return o.section == m.section })
	return !m.closed && (again || s.missing() > 0)
}

// missing counts the sections without a mark, apart from those that only group others.
func (s *sectioned) missing() int {
	n := 0
	for i, marked := range s.marked {
		if !marked && !Groups(s.headings, i) {
			n++
		}
	}
	return n
}
