package extractive

import (
	"errors"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// notChosen is the line in a summary whose lines could not be chosen.
const notChosen = "The messages could not be summarized: only requests of the user and an earlier summary are here"

// outline is a summary that does not need the ledger, the plan or the layout, after one of them failed. It has the
// user's last request, the lines of the previous summary, and earlier requests.
type outline struct {
	headings []summarizers.Heading
	// goal and facts are the sections of the last request, and of lines without a section of their own.
	goal, facts int
	// lines are the possible lines, the most important first.
	lines []outlined
}

// outlined is one line of a section.
type outlined struct {
	section int
	text    string
}

// minimal writes as many lines of the outline as fit. It does not interpret the messages.
func minimal(req *summarizers.Request) (pieces []string, ok bool) {
	o := newOutline(req)
	fits := func(pieces []string) bool { return req.Count(strings.Join(pieces, "")) <= req.MaxTokens }
	low, high := 0, len(o.lines)
	for low < high {
		mid := (low + high + 1) / 2
		if fits(o.render(mid, "\n\n")) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for ; low > 0; low-- {
		if pieces = o.render(low, "\n\n"); fits(pieces) {
			return pieces, true
		}
	}
	for limit := maxGoal; limit > 0 && len(o.lines) > 0; limit /= 2 {
		if pieces = o.brief(limit); fits(pieces) {
			return pieces, true
		}
	}
	if pieces = o.render(0, "\n"); fits(pieces) {
		return pieces, true
	}
	for limit := maxGoal; limit > 0 && len(o.lines) > 0; limit /= 2 {
		if pieces = []string{alone(req, shorten(o.lines[0].text, limit))}; fits(pieces) {
			return pieces, true
		}
	}
	return nil, false
}

// alone returns a line that can be a whole summary. Without headings, the checks would take a line that begins like an
// error for one, and a section's title for a text that was cut off. Such a line gets a backslash.
func alone(req *summarizers.Request, line string) string {
	asked := &summarizers.Request{
		Kind: req.Kind, Sections: req.Sections, MaxTokens: 1, Replaces: 1, Count: func(string) uint32 { return 0 },
	}
	var refused *summarizers.CheckError
	if errors.As(summarizers.Check(asked, &summarizers.Summary{Text: line}), &refused) &&
		(refused.Check == summarizers.CheckErrorText || refused.Check == summarizers.CheckCutOff) {
		return `\` + line
	}
	return line
}

func newOutline(req *summarizers.Request) *outline {
	headings := summarizers.Headings(req.Kind, req.Sections)
	o := &outline{
		headings: headings,
		goal:     summarizers.SectionFor(headings, compactordv1.SectionRole_SECTION_ROLE_GOAL),
		facts:    summarizers.SectionFor(headings, compactordv1.SectionRole_SECTION_ROLE_CONTEXT),
	}
	requests := plainRequests(req)
	if n := len(requests); n > 0 {
		o.addRequest(requests[n-1])
	}
	if len(req.Messages) > 0 {
		first, last := req.Messages[0].GetIndex(), req.Messages[len(req.Messages)-1].GetIndex()
		o.add(o.facts, "- "+notChosen+citation(spanned(first, last)))
	}
	o.addPrevious(req.PreviousSummary)
	for i := len(requests) - 2; i >= 0; i-- {
		o.add(o.facts, "- "+labelRequest+plainText(requests[i], false))
	}
	return o
}

func spanned(first, last uint32) []uint32 {
	if first == last {
		return []uint32{first}
	}
	return []uint32{first, last}
}

// maxOutlined limits the number of lines.
const maxOutlined = 2000

func (o *outline) add(section int, text string) {
	if len(o.lines) < maxOutlined {
		o.lines = append(o.lines, outlined{section, text})
	}
}

// addRequest adds the last request. It gets a label if its section does not begin with the goal.
func (o *outline) addRequest(it *item) {
	if startsWithGoal(o.headings[o.goal]) {
		o.add(o.goal, plainText(it, true))
		return
	}
	o.add(o.goal, "- "+labelLastRequest+plainText(it, false))
}

// addPrevious adds the lines of a previous summary below the same headings.
func (o *outline) addPrevious(text string) {
	section := o.facts
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.ToValidUTF8(clip(line, maxLine), ""))
		isHeading := strings.HasPrefix(line, "#")
		switch {
		case isHeading:
			section = o.sectionOf(strings.TrimLeft(line, "#"))
		case line != "" && line != none && line != "- "+none:
			o.add(section, line)
		}
	}
}

func (o *outline) sectionOf(title string) int {
	key := session.TitleKey(title)
	for i, h := range o.headings {
		if session.TitleKey(h.Title) == key && !summarizers.Groups(o.headings, i) {
			return i
		}
	}
	return o.facts
}

// render writes the first n lines under the headings, one piece for each section.
func (o *outline) render(lines int, between string) []string {
	below := make([][]string, len(o.headings))
	for _, l := range o.lines[:lines] {
		below[l.section] = append(below[l.section], l.text)
	}
	return writeSections(o.headings, below, between)
}

// brief writes only the most important line with its heading, with at most limit units.
func (o *outline) brief(limit int) []string {
	first := o.lines[0]
	first.text = shorten(first.text, limit)
	return (&outline{headings: o.headings, lines: []outlined{first}}).render(1, "\n")
}

// plainRequests returns the user's messages as requests, unchanged.
func plainRequests(req *summarizers.Request) []*item {
	var requests []*item
	for _, m := range req.Messages {
		if m.GetMessage().GetRole() != compactordv1.Role_ROLE_USER {
			continue
		}
		m, err := req.Read(m)
		if err != nil {
			// What the digest was to be made of can't be read either: it is given up.
			continue
		}
		if it := plainRequest(m); it != nil {
			requests = append(requests, it)
		}
	}
	return requests
}

// plainRequest returns a user's message as a request, unchanged. It returns nil if a program wrote it or it has no
// text.
func plainRequest(logged *compactordv1.LoggedMessage) *item {
	m := logged.GetMessage()
	if m.GetRole() != compactordv1.Role_ROLE_USER {
		return nil
	}
	switch m.GetOrigin() {
	case compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT:
	default:
		return nil
	}
	text := oneLine(clip(textOf(m), 8*maxRequest))
	if text == "" {
		return nil
	}
	return &item{kind: kindRequest, text: text, cites: []uint32{logged.GetIndex()}}
}

// maxPlain is how many units of a request an outline shows.
const maxPlain = 1000

// plainText returns the text of a line with a request. alone says that the line is not a list item.
func plainText(it *item, alone bool) string {
	return escape(shorten(it.text, maxPlain), kindRequest, alone) + citation(it.cites)
}
