package extractive

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// section is a heading and what belongs below it.
type section struct {
	heading summarizers.Heading
	// holds is the kind of a line without a label in this section.
	holds kind
	// quotes says that the quotes are at its end.
	quotes bool
	// group says that the section has subsections and no lines of its own.
	group bool
}

// layout says which sections a summary has, and which section each kind of item belongs to.
type layout struct {
	sections []section
	// goal is the section of the sentence with the goal.
	goal int
	// last is the section of the last request, if the goal does not contain all of it.
	last  int
	place [kinds]int
	// silent says that no words of tools may be in the summary.
	silent bool
	// environment is the section for facts about the environment, or -1 if there is none.
	environment int
}

// roles are the roles of the sections for each kind of item.
var roles = [kinds]compactordv1.SectionRole{
	kindRequest:  compactordv1.SectionRole_SECTION_ROLE_CONTEXT,
	kindRule:     compactordv1.SectionRole_SECTION_ROLE_CONSTRAINTS,
	kindDone:     compactordv1.SectionRole_SECTION_ROLE_DONE,
	kindDoing:    compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS,
	kindError:    compactordv1.SectionRole_SECTION_ROLE_PROBLEMS,
	kindDecision: compactordv1.SectionRole_SECTION_ROLE_DECISIONS,
	kindNext:     compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS,
	kindFact:     compactordv1.SectionRole_SECTION_ROLE_CONTEXT,
	kindFile:     compactordv1.SectionRole_SECTION_ROLE_FILES,
	kindEarlier:  compactordv1.SectionRole_SECTION_ROLE_CONTEXT,
}

// layoutOf returns the layout of a summary with these sections.
func layoutOf(k summarizers.Kind, sections []*compactordv1.Section) *layout {
	headings := summarizers.Headings(k, sections)
	ly := &layout{goal: summarizers.SectionFor(headings, compactordv1.SectionRole_SECTION_ROLE_GOAL), environment: -1}
	for i, h := range headings {
		ly.sections = append(ly.sections, section{heading: h, holds: heldBelow(h.Role), group: summarizers.Groups(headings, i)})
	}
	for i := len(headings) - 2; i >= 0; i-- {
		if ly.sections[i].group {
			ly.sections[i].holds = ly.sections[i+1].holds
		}
	}
	if startsWithGoal(headings[ly.goal]) {
		ly.sections[ly.goal].holds = kindRequest
	}
	for of, role := range roles {
		ly.place[of] = summarizers.SectionFor(headings, role)
	}
	ly.sections[ly.place[kindFact]].quotes = true
	if headings[ly.goal].Role == compactordv1.SectionRole_SECTION_ROLE_GOAL {
		ly.place[kindRequest] = ly.goal
	}
	if k == summarizers.TurnPrefix || k == summarizers.Range {
		// What follows continues from what was done.
		ly.place[kindFile] = ly.place[kindDone]
	}
	ly.last = ly.place[kindRequest]
	if slices.Contains(ly.place[:], ly.goal) {
		// A section with more than the goal also gets the last request.
		ly.last = ly.goal
	}
	if summarizers.HasRole(headings, compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT) {
		ly.environment = summarizers.SectionFor(headings, compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT)
	}
	return ly
}

// heldBelow returns the kind of a line without a label in a section with this role.
func heldBelow(role compactordv1.SectionRole) kind {
	if role == compactordv1.SectionRole_SECTION_ROLE_GOAL {
		return kindRequest
	}
	if role == compactordv1.SectionRole_SECTION_ROLE_CODE {
		return kindFile
	}
	for _, k := range []kind{kindRule, kindDone, kindDoing, kindError, kindDecision, kindNext, kindFile} {
		if roles[k] == role {
			return k
		}
	}
	return kindFact
}

// startsWithGoal says whether a section begins with the goal in a line without a label. That is so for the section of
// the goal, and of the work in progress.
func startsWithGoal(h summarizers.Heading) bool {
	return h.Role == compactordv1.SectionRole_SECTION_ROLE_GOAL || h.Role == compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS
}

// titled returns the sections by the keys of their titles.
func (ly *layout) titled() map[string]section {
	byKey := make(map[string]section, len(ly.sections))
	for _, s := range ly.sections {
		byKey[session.TitleKey(s.heading.Title)] = s
	}
	return byKey
}

// headings returns the headings of the sections.
func (ly *layout) headings() []summarizers.Heading {
	headings := make([]summarizers.Heading, len(ly.sections))
	for i, s := range ly.sections {
		headings[i] = s.heading
	}
	return headings
}

// at returns the section of a chosen item.
func (ly *layout) at(c chosen) int {
	if c.goal {
		return ly.goal
	}
	return ly.sectionOf(c.it)
}

// sectionOf returns the section of an item.
func (ly *layout) sectionOf(it *item) int {
	switch {
	case it.kind == kindRequest && (it.noise || it.end != requestOpen && !it.last):
		return ly.place[kindFact]
	case it.kind == kindRequest && it.last:
		return ly.last
	case it.kind == kindFact && ly.environment >= 0 && aboutSurroundings(it.text):
		return ly.environment
	}
	return ly.place[it.kind]
}

// aboutSurroundings says whether a fact is about the environment of the work.
func aboutSurroundings(text string) bool {
	lower := strings.ToLower(text)
	for _, w := range []string{
		"version", "branch", "port ", "directory", "installed", "staging", "production", "database", "runs on", "listens on",
		"python 3", "node ", "go 1.", "docker", "端口", "版本", "环境", "分支", "目录", "数据库",
	} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// meanings are words of headings that say what is below them. The first that matches counts. Models' summaries may have
// headings that they invented.
var meanings = []struct {
	holds kind
	words []string
}{
	{kindRequest, []string{"goal", "original request", "objective", "current focus", "user request", "primary request", "task summary", "目标", "原始请求", "任务目标"}},
	{kindRule, []string{"constraint", "preference", "requirement", "rules", "约束", "偏好", "限制", "要求"}},
	{kindDoing, []string{"in progress", "current work", "current state", "task state", "进行中"}},
	{kindError, []string{"block", "active issue", "issues", "errors", "open problem", "阻塞", "问题", "错误"}},
	{kindDecision, []string{"decision", "决策", "决定"}},
	{kindNext, []string{"next", "current plan", "pending", "to-do", "todo", "remaining", "下一步", "待办"}},
	{kindFile, []string{"file", "code state", "文件"}},
	{kindDone, []string{"done", "progress", "completed", "accomplished", "recent work", "recent action", "已完成", "完成", "进展"}},
}

// meaningOf returns the kind of the lines below a heading with this title, or kindFact if the title says nothing.
func meaningOf(title string) kind {
	title = strings.ReplaceAll(strings.ToLower(title), "_", " ")
	for _, m := range meanings {
		for _, w := range m.words {
			if strings.Contains(title, w) {
				return m.holds
			}
		}
	}
	return kindFact
}

// label is the text before an item in a section for other kinds.
type label struct {
	text    string
	kind    kind
	last    bool
	noise   bool
	passing bool
	end     requestEnd
}

// The labels that a minimal summary has, too.
const (
	labelLastRequest = "Last request: "
	labelRequest     = "Request: "
)

// labelNote is the text before what somebody else than the user stated with a label. The user's own has none.
const labelNote = "Note: "

// labels are all labels. The first one that matches an item is written.
var labels = []label{
	{text: labelLastRequest, kind: kindRequest, last: true},
	{text: "Last user message: ", kind: kindRequest, last: true, noise: true},
	{text: "Asked and answered: ", kind: kindRequest, end: requestAnswered},
	{text: "Earlier: ", kind: kindRequest, end: requestFinished},
	{text: labelRequest, kind: kindRequest},
	{text: "Constraint: ", kind: kindRule},
	{text: "Done: ", kind: kindDone},
	{text: "Last step: ", kind: kindDoing, passing: true},
	{text: "In progress: ", kind: kindDoing},
	{text: "Open error: ", kind: kindError},
	{text: "Decision: ", kind: kindDecision},
	{text: "Next: ", kind: kindNext},
	{text: labelNote, kind: kindFact},
	{text: "File: ", kind: kindFile},
}

// meant says whether this text counts as a label in a section for `holds`, before the rest of the line. A line of the
// section's own kind has no label there, so the same words are part of its text; only a statement has one.
func (l label) meant(holds kind, rest string) bool {
	return l.kind != holds || l.passing || l.kind == kindRequest || l.kind == kindFact && isStatement(rest)
}

// labelOf returns the label of an item in a section.
func labelOf(it *item, holds kind, goal bool) string {
	if goal && holds == kindRequest {
		return ""
	}
	end := it.end
	if it.last || goal {
		end = requestOpen
	}
	special := it.kind == kindRequest && (it.last || end != requestOpen) || it.kind == kindDoing && it.passing
	if it.kind == holds && !special {
		if holds == kindFact && isStatement(it.text) {
			return labelNote
		}
		return ""
	}
	if holds == kindFact && it.kind == kindRequest && end == requestFinished && isStatement(ownWords(it.text)) {
		// Its own label says what it is.
		return ""
	}
	for _, l := range labels {
		if l.kind == it.kind && l.last == (it.kind == kindRequest && it.last && !goal) && l.noise == (it.noise && it.last && !goal) &&
			l.passing == (it.kind == kindDoing && it.passing) && l.end == end {
			return l.text
		}
	}
	return ""
}
