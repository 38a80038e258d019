package extractive

import (
	"slices"
	"strings"
)

// What instructions for agents hold beside rules.

// leadIns are words at the end of a sentence that a list completes.
var leadIns = wordSet("where that which when if with as like including following follows because to of and or the")

// leadsIn says whether a text is only the beginning of a sentence that a list completes.
func leadsIn(text string) bool {
	return leadIns[strings.ToLower(text[strings.LastIndexByte(text, ' ')+1:])]
}

// isStepTitle says whether a text is the title of a step, without what is to be done in it.
func isStepTitle(text string) bool {
	text = strings.TrimLeft(text, "*_ ")
	for _, word := range []string{"step ", "phase ", "part ", "stage "} {
		if hasPrefixAnyCase(text, word) && len(text) > len(word) && isDigit(text[len(word)]) {
			return !strings.ContainsAny(text[len(text)-1:], ".!")
		}
	}
	return false
}

// tellsOnly says whether a statement tells the agent what is there, what happens, or what its part is, and demands
// nothing.
func tellsOnly(text string, found cue) bool {
	return found&(cueMust|cuePrefer|cueEnsures) == 0 && !containsAnyCase(text, "only ") && hasOpening(strings.TrimLeft(text, "*_ "),
		"you see", "you get", "you receive", "you write", "you have", "you are", "you're ", "you’re ", "you'll ", "you’ll ", "you will ", "you can ", "there is ",
		"there are ", "the system ", "the user ", "this is ", "these are ", "the following ", "it may ", "your task ", "your job ", "your role ", "we are ", "welcome")
}

// loaders are words in the names of tools that load instructions.
var loaders = wordSet("skill skills slashcommand playbook")

// load remembers instructions that a program inserted for the work that is going on, such as those of a skill.
func (r *reader) load(index uint32, text string) {
	switch {
	case r.working || strings.HasPrefix(text, skillOpening):
		r.loaded = append(r.loaded, index)
	case r.lastUser != nil && (r.lastUser.noise || namesCommand(r.lastUser.text)) && !isStanding(text):
		// The user has only given a command so far, and this may be what it says.
		r.commanded = append(r.commanded, index)
	}
}

// begin takes what a command says for the work that the agent begins, unless the user asked for something else beside it.
func (r *reader) begin() {
	r.loaded = append(r.loaded, r.commanded...)
	r.commanded = nil
}

// namesCommand says whether a message of the user is a command of the agent's program, such as "/review 42".
func namesCommand(text string) bool {
	name, ok := strings.CutPrefix(firstWord(text), "/")
	return ok && name != "" && !strings.ContainsAny(name, "/.")
}

// unload drops the rules of loaded instructions once the agent has answered: the work that they were for is over.
func (r *reader) unload() {
	if len(r.loaded) == 0 || r.working || !r.answered {
		return
	}
	r.l.dropItems(kindRule, func(it *item) bool {
		return it.by == bySystem && len(it.cites) > 0 && !slices.ContainsFunc(it.cites, func(c uint32) bool { return !slices.Contains(r.loaded, c) })
	})
	r.loaded = nil
}

// orders says whether a sentence of loaded instructions orders something by its form: it begins with that, or writes it in
// capitals. The handbooks of a piece of work explain and argue in the same words.
func orders(st statement) bool {
	text := strings.TrimLeft(st.text, "*_ ")
	if !isASCII(text) || st.head != "" && isCondition(text) || hasOpening(text, "do not ", "don't ", "never ", "always ", "only ", "no ", "avoid ", "must ", "never:", "always:") {
		return true
	}
	for word := range strings.FieldsSeq(text) {
		switch strings.Trim(word, "*_.,:;!") {
		case "MUST", "NEVER", "ALWAYS", "ONLY", "NOT", "DON'T":
			return true
		}
	}
	return false
}

// isPlan says whether a text is a document with headings below some words of the user: a plan, a report, a specification.
func isPlan(text string) bool {
	headings, fenced := 0, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if !fenced && isHeading(line) {
			headings++
		}
	}
	return headings > 1
}

// ruling are words in the titles of rules.
var ruling = []string{
	"rule", "constraint", "convention", "guideline", "style", "preference", "polic", "requirement", "important", "boundar", "limit", "restriction", "non-goal", "out of scope", "unchanged", "note",
	"regel", "vorgabe", "einschränkung", "anforderung", "regla", "restricci", "convenci", "requisito", "regra", "restriç", "contrainte", "règle", "exigence",
	"правил", "ограничен", "требован", "约束", "规则", "不修改", "不改", "不变", "保持", "规范", "要求", "限制", "注意", "制約", "ルール", "規約", "要件", "제약", "규칙", "요구", "주의",
}

// bindsInPlan says whether a statement of a plan is a rule, and not a piece of what is planned: it is firm, or stands
// under a title that is one or says that there are rules.
func (r *reader) bindsInPlan(st statement, found cue) bool {
	if strings.Contains(st.text, "确保") {
		// A plan says so of what it brings about.
		found = r.cues.read(strings.ReplaceAll(st.text, "确保", ""))
	}
	return found&cueMust != 0 || st.under != "" && (r.cues.read(st.under)&(cueMust|cuePrefer) != 0 || slices.ContainsFunc(ruling, func(w string) bool { return containsAnyCase(st.under, w) }))
}
