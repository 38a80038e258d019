package extractive

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// section is a heading and what stands below it.
type section struct {
	heading summarizers.Heading
	// holds is what a line without a label is in this section.
	holds kind
	// group says that other headings stand below it and no lines.
	group bool
}

// layout is the sections of a summary, and where each kind of item goes.
type layout struct {
	sections []section
	// goal is the section of the one sentence that says what all of it is for.
	goal int
	// last is where the last request goes, if the goal does not say all of it.
	last  int
	place [kinds]int
	// environment is the section for what is true of the surroundings, -1 where there is none.
	environment int
}

// roles are what stands in a section of each kind of item.
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
	kindMarks:    compactordv1.SectionRole_SECTION_ROLE_CONTEXT,
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
	if k == summarizers.TurnPrefix {
		// All that the user said in a turn is its request, and the rest of the turn goes on from what was done.
		ly.place[kindRequest], ly.place[kindFile] = ly.goal, ly.place[kindDone]
	}
	ly.last = ly.place[kindRequest]
	if slices.Contains(ly.place[:], ly.goal) {
		// A section that holds more than the goal takes the last request too.
		ly.last = ly.goal
	}
	if summarizers.HasRole(headings, compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT) {
		ly.environment = summarizers.SectionFor(headings, compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT)
	}
	return ly
}

// heldBelow returns what a line without a label is in a section with that role.
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

// startsWithGoal says whether the goal opens a section in a line without a label: that of the goal, or of the work that
// it is for.
func startsWithGoal(h summarizers.Heading) bool {
	return h.Role == compactordv1.SectionRole_SECTION_ROLE_GOAL || h.Role == compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS
}

// titled are the sections by what is recognized of their titles.
func (ly *layout) titled() map[string]section {
	byKey := make(map[string]section, len(ly.sections))
	for _, s := range ly.sections {
		byKey[session.TitleKey(s.heading.Title)] = s
	}
	return byKey
}

// at returns where a chosen item goes.
func (ly *layout) at(c chosen) int {
	if c.goal {
		return ly.goal
	}
	return ly.sectionOf(c.it)
}

// sectionOf returns where an item goes.
func (ly *layout) sectionOf(it *item) int {
	switch {
	case it.kind == kindRequest && it.last:
		return ly.last
	case it.kind == kindFact && ly.environment >= 0 && aboutSurroundings(it.text):
		return ly.environment
	}
	return ly.place[it.kind]
}

// aboutSurroundings says whether a fact is about where the work is done.
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

// meanings are the words of headings that say what stands below, the first that fits. Summaries of models have
// headings of their own making.
var meanings = []struct {
	holds kind
	words []string
}{
	{kindRequest, []string{"goal", "original request", "objective", "current focus", "user request", "primary request", "task summary", "目标", "原始请求", "任务目标"}},
	{kindRule, []string{"constraint", "preference", "requirement", "rules", "约束", "偏好", "限制", "要求"}},
	{kindDoing, []string{"in progress", "in_progress", "current work", "current state", "进行中"}},
	{kindError, []string{"block", "active issue", "issues", "errors", "open problem", "阻塞", "问题", "错误"}},
	{kindDecision, []string{"decision", "决策", "决定"}},
	{kindNext, []string{"next", "pending", "to-do", "todo", "remaining", "下一步", "待办"}},
	{kindFile, []string{"file", "code state", "code_state", "文件"}},
	{kindDone, []string{"done", "progress", "completed", "accomplished", "recent work", "已完成", "完成", "进展"}},
}

// meaningOf returns what stands below a heading of that title; statements where nothing else is known.
func meaningOf(title string) kind {
	title = strings.ToLower(title)
	for _, m := range meanings {
		for _, w := range m.words {
			if strings.Contains(title, w) {
				return m.holds
			}
		}
	}
	return kindFact
}

// label is what stands before an item in a section that is not of its kind.
type label struct {
	text    string
	kind    kind
	last    bool
	noise   bool
	passing bool
}

// labels are all labels. The first of a kind that fits is written.
var labels = []label{
	{text: "Last request: ", kind: kindRequest, last: true},
	{text: "Last user message: ", kind: kindRequest, last: true, noise: true},
	{text: "Request: ", kind: kindRequest},
	{text: "Constraint: ", kind: kindRule},
	{text: "Done: ", kind: kindDone},
	{text: "Last step: ", kind: kindDoing, passing: true},
	{text: "In progress: ", kind: kindDoing},
	{text: "Open error: ", kind: kindError},
	{text: "Decision: ", kind: kindDecision},
	{text: "Next: ", kind: kindNext},
	{text: "Note: ", kind: kindFact},
	{text: "File: ", kind: kindFile},
	{text: "Identifiers: ", kind: kindMarks},
}

// meant says whether the label is one where lines hold that: a line that is of its section's kind has none, so there
// the words are its own.
func (l label) meant(holds kind) bool {
	return l.kind != holds || l.passing || l.kind == kindRequest || l.kind == kindMarks
}

// labelOf returns the label of an item in a section.
func labelOf(it *item, holds kind, goal bool) string {
	if goal && holds == kindRequest {
		return ""
	}
	special := it.kind == kindRequest || it.kind == kindMarks || it.kind == kindDoing && it.passing
	if it.kind == holds && !special {
		return ""
	}
	for _, l := range labels {
		if l.kind == it.kind && l.last == (it.kind == kindRequest && it.last && !goal) && l.noise == (it.noise && it.last && !goal) &&
			l.passing == (it.kind == kindDoing && it.passing) {
			return l.text
		}
	}
	return ""
}
