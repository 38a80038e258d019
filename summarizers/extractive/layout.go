package extractive

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
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

// layoutOf returns the layout of a set of sections.
func layoutOf(k summarizers.Kind, set compactordv1.SectionSet) *layout {
	headings := summarizers.Headings(k, set)
	ly := &layout{environment: -1}
	for i, h := range headings {
		s := section{heading: h, holds: meaningOf(h.Title)}
		s.group = i+1 < len(headings) && headings[i+1].Level > h.Level
		ly.sections = append(ly.sections, s)
	}
	at := func(title string) int {
		for i, s := range ly.sections {
			if s.heading.Title == title {
				return i
			}
		}
		return len(ly.sections) - 1
	}
	put := func(title string, list ...kind) {
		for _, k := range list {
			ly.place[k] = at(title)
		}
	}
	switch {
	case k == summarizers.TurnPrefix:
		put("Original Request", kindRequest, kindRule)
		put("Early Progress", kindDone, kindDoing, kindError, kindFile)
		put("Context for Suffix", kindFact, kindDecision, kindNext, kindMarks)
		ly.goal, ly.last = at("Original Request"), at("Original Request")
	case set == compactordv1.SectionSet_SECTION_SET_KIMI:
		put("Current Focus", kindDoing, kindNext)
		put("Completed Tasks", kindDone)
		put("Active Issues", kindError)
		put("Code State", kindFile)
		put("Important Context", kindFact, kindDecision, kindRule, kindRequest, kindMarks)
		ly.goal, ly.last, ly.environment = at("Current Focus"), at("Current Focus"), at("Environment")
	case set == compactordv1.SectionSet_SECTION_SET_XBOT:
		put("Historical Context", kindFact, kindRequest, kindMarks)
		put("Task Summary", kindRule)
		put("Key Decisions", kindDecision)
		put("Active Files", kindFile)
		put("Errors & Fixes", kindError)
		put("Recent Work", kindDone, kindDoing)
		put("Next Steps", kindNext)
		ly.goal, ly.last = at("Task Summary"), at("Task Summary")
	default:
		put("Constraints & Preferences", kindRule)
		put("Done", kindDone)
		put("In Progress", kindDoing)
		put("Blocked", kindError)
		put("Key Decisions", kindDecision)
		put("Next Steps", kindNext)
		put("Critical Context", kindFact, kindRequest, kindMarks)
		put("Relevant Files", kindFile) // PI has no such section; its last one takes them.
		ly.goal, ly.last = at("Goal"), at("Critical Context")
	}
	return ly
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
	if goal {
		return ""
	}
	special := it.kind == kindRequest || it.kind == kindMarks || it.kind == kindDoing && it.passing
	if it.kind == holds && !special {
		return ""
	}
	for _, l := range labels {
		if l.kind == it.kind && l.last == (it.kind == kindRequest && it.last) && l.noise == (it.noise && it.last) &&
			l.passing == (it.kind == kindDoing && it.passing) {
			return l.text
		}
	}
	return ""
}
