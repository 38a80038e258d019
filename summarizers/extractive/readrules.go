package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers"
)

// maxRule is how many units of a rule are kept.
const maxRule = 600

// shortRule is how many units a rule has at most that may need the sentence before it.
const shortRule = 60

// hasValue says whether a text has a word in it that is a value or an identifier.
func hasValue(text string) bool {
	return strings.Contains(text, "`") || slices.ContainsFunc(strings.Fields(text), func(w string) bool { return isValue(w) || isSubject(w) })
}

// rules reads the constraints and preferences of a text.
func (r *reader) rules(index uint32, text string, by speaker) {
	text, _ = summarizers.WithoutBlocks(text, "<!--", "-->")
	text = withoutPasted(text)
	listed, long := isDocument(text), units(text) > maxSaid
	standing := by == bySystem && isStanding(text)
	listed = listed || standing
	planned := by == byUser && !listed && isPlan(text)
	before, room := "", maxInserted
	options := false
	loaded := slices.Contains(r.loaded, index)
	if loaded {
		room = maxLoaded
	}
	announces := always
	if listed {
		// The items of a list in a document stand alone, unless the sentence before them is a rule or a condition.
		announces = func(head string) bool {
			found := r.cues.read(head)
			return saysFirmly(head, found) || found&cueSoft != 0 || isCondition(head)
		}
	} else if planned {
		// What a list below "For each page:" says is a step or a rule of its own.
		announces = func(head string) bool { return saysFirmly(head, r.cues.read(head)) }
	}
	var found ruleFound
	eachStatement(text, announces, func(st statement) {
		st.text = withoutTags(st.text)
		if found.goesOn(st) {
			before = ""
			return
		}
		r.addFound(&found)
		if by != byUser && listed && room == 0 {
			return
		}
		if !st.numbered {
			options = by == byUser && !st.listed && asks(st.text) && !requests(st.text) && !opensTask(st.text)
		} else if options {
			// The user asks which of these it is to be.
			return
		}
		subject := before
		if before = st.text; !st.follows {
			subject = ""
		}
		if st.heads || isMark(st.text) || !looksRule(st.text) || len(st.text) < 4 || isASCII(st.text) && len(st.text) < 8 {
			return
		}
		cues := r.cues.read(st.text)
		if by == byUser && long && cues&cueMust == 0 && mayDecide(st.text, cues) && r.cues.decides(st.text) {
			r.l.add(&item{kind: kindDecision, text: r.sign + shorten(bare(clip(st.text, 4096)), maxRule), cites: []uint32{index}, score: 8})
		}
		if by != byUser && listed && (standing && !isStandingRule(st, cues) || !standing && !r.isFirm(st, cues) || loaded && !orders(st)) {
			return
		}
		if !r.rulesBy(st, cues, by) || planned && !r.bindsInPlan(st, cues) {
			return
		}
		if loaded && subject == "" && containsAnyCase(st.text, " this ") {
			return
		}
		// "It is forbidden to ..." leans on nothing.
		leaning := hasOpening(st.text, "instead", "otherwise", "then ", "this ", "these ", "those ", "that ", "they ")
		person := subject != "" && by == byUser && hasOpening(st.text, "he ", "he's ", "he’s ", "she ", "she's ", "she’s ", "her ", "his ")
		if leaning && (subject == "" || units(subject) > maxBefore) && (long || by != byUser) {
			// What it is about is not known.
			return
		}
		before = ""
		room = max(room-1, 0)
		body := bare(clip(st.text, 8*maxRule))
		if person || (leaning || units(body) < shortRule && !hasValue(body) && refers(body)) && !opensTask(subject) && !requests(subject) && !asks(subject) {
			// What it is about is in the sentence before.
			body = strings.TrimSpace(bare(clip(subject, 8*maxRule)) + " " + body)
		}
		found = ruleFound{body, ruleTier(st.text, cues, by), &item{cites: []uint32{index}, by: by, listed: listed}}
	})
	r.addFound(&found)
}

// ruleFound is a rule of a text, to which the next sentence may belong.
type ruleFound struct {
	text string
	tier int
	from *item
}

// goesOn says whether a sentence only completes the rule before it, as in "Don't scroll. Instead, go to the line.", and adds
// it there.
func (f *ruleFound) goesOn(st statement) bool {
	if f.from == nil || !st.follows || st.heads || !hasOpening(st.text, "instead, ", "otherwise, ", "if not, ", "if so, ", "if it did", "if it doesn", "if that doesn") ||
		units(f.text)+units(st.text) >= maxRule {
		return false
	}
	f.text += " " + bare(st.text)
	return true
}

func (r *reader) addFound(f *ruleFound) {
	if f.from != nil {
		r.rule(shorten(f.text, maxRule), f.tier, f.from)
	}
	*f = ruleFound{}
}

// maxInserted is how many rules of a document are kept that a program inserted, and maxLoaded how many of instructions for
// the work that is going on.
const maxInserted, maxLoaded = 16, 6

// isCondition says whether a sentence says when something holds.
func isCondition(text string) bool {
	return hasOpening(strings.TrimLeft(text, "*_- "), "when", "if ", "for ", "before ", "after ", "during ", "once ", "unless ", "while ", "in case")
}

// isFirm says whether a statement of an inserted document is a firm rule in a whole sentence, and not a topic, a step of a
// procedure, an example or a choice in a menu.
func (r *reader) isFirm(st statement, found cue) bool {
	text := st.text
	joined := strings.Count(st.head, " ") > 3 && !isCondition(st.head) && r.cues.read(st.head)&cueMust != 0
	switch {
	case found&cueMust == 0 && !saysOnly(text), found&cueRecounts != 0 && found&cueLasts == 0 && !joined, leans(text) && !hasOpening(text, "it ", "it's "), hasOpening(text, "only then"):
		return false
	case strings.Contains(text, " # "):
		// A command with a remark.
		return false
	case !isASCII(text):
		return units(text) >= 8
	}
	end := strings.TrimRight(text, "*_`)\"”")
	whole := strings.HasSuffix(end, ".") || strings.HasSuffix(end, "!") || strings.HasSuffix(end, "。")
	return strings.Count(text, " ") >= 3 && (whole || st.listed || joined) && !strings.ContainsAny(text[:1], "\"“'([/")
}

// saysOnly says whether a sentence has "only" or "should" in capitals, or "only" as its first word.
func saysOnly(text string) bool {
	return strings.Contains(text, "ONLY ") || strings.Contains(text, "SHOULD ") || strings.HasPrefix(text, "Only ")
}

// refers says whether a short rule needs the sentence before it: it has a word for something that was named there, or
// hardly any word of its own.
func refers(text string) bool {
	if contentUpTo(text, 3) < 3 {
		return true
	}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		switch strings.Trim(word, ".,;:!") {
		case "it", "that", "this", "them", "these", "those", "there", "its", "their", "one":
			return true
		}
	}
	return !isASCII(text)
}

// isRule says whether a statement with these cues is a rule.
func isRule(text string, found cue, by speaker) bool {
	if isQuoted(text) || narratesSkill(text) || by != byUser && (leadsIn(text) || isStepTitle(text) || tellsOnly(text, found)) {
		return false
	}
	text = withoutTagQuestion(text)
	firm := saysFirmly(text, found)
	if (asks(text) || opensQuestion(text)) && (found&cueAsks == 0 || found&cueMust == 0 && !ensures(text, found)) {
		return false
	}
	text = plainApostrophes(text)
	if by == byUser && found&cueMust == 0 && found&cueRecounts != 0 && !opensEnsuring(text) && !isMarkedImportant(text) {
		// It tells what happens, or what somebody thinks.
		return false
	}
	if !firm && (units(text) >= 240 || found&cueSoft == 0 && by == byUser) {
		return false
	}
	return firm || by != byUser || !opensTask(text) && !requests(text)
}

// withoutTagQuestion returns an order without the question after it whether it was understood.
func withoutTagQuestion(text string) string {
	for _, tag := range []string{", ok?", ", okay?", ", alright?", ", please?", ", ja?", ", okay ?", ", ok ?", ", vale?", ", d'accord?", ", d'accord ?", ", ладно?", ", хорошо?"} {
		if said, ok := strings.CutSuffix(text, tag); ok {
			return said
		}
	}
	return text
}

// saysFirmly says whether a statement with these cues is more than a wish.
func saysFirmly(text string, found cue) bool {
	return found&(cueMust|cuePrefer) != 0 || ensures(text, found) || isMarkedImportant(text) || forbidsThings(text, found)
}

// isMarkedImportant says whether a sentence begins with a label that says how much it matters.
func isMarkedImportant(text string) bool {
	return labelledAs(text, ruleLabels)
}

// ensures says whether a sentence asks to make sure of something that is not only the outcome of a task.
func ensures(text string, found cue) bool {
	if found&cueEnsures == 0 {
		return false
	}
	return opensEnsuring(text) || found&cueRecounts == 0 && units(text) < maxEnsured && !opensTask(text) && !requests(text)
}

// maxEnsured is how many units a sentence has at most that orders to make sure of something within it.
const maxEnsured = 160

// opensEnsuring says whether a sentence begins with the order to make sure of something.
func opensEnsuring(text string) bool {
	for _, polite := range []string{"please ", "and ", "also ", "always ", "just "} {
		if hasPrefixAnyCase(text, polite) {
			text = text[len(polite):]
		}
	}
	return hasOpening(text, "make sure", "be sure", "ensure")
}

// plainApostrophes replaces typographic apostrophes.
func plainApostrophes(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.ReplaceAll(text, "’", "'")
}

// isQuoted says whether a text is a quotation, or a piece of one.
func isQuoted(text string) bool {
	if strings.Count(text, "\"")%2 == 1 || strings.Count(text, "“") != strings.Count(text, "”") {
		return true
	}
	end := strings.TrimRight(text, ".,!")
	return strings.HasPrefix(text, "\"") && strings.HasSuffix(end, "\"") && strings.Count(text, "\"") == 2 ||
		strings.HasPrefix(text, "“") && strings.HasSuffix(end, "”") && strings.Count(text, "“") == 1
}

// narratesSkill says whether a document tells in the first person what its reader does next.
func narratesSkill(text string) bool {
	return hasOpening(text, "first, i ", "first i ", "i need to ", "i'll ", "i will ", "let me ", "next, i ", "now i ", "i'm going to ", "follow these steps", "first we ", "first, we ", "now we ", "do this ", "the current ")
}

// saying reads a short message of the user. If each sentence of it is a rule or a decision, the whole message is one.
func (r *reader) saying(request *item, text string) {
	tier, whole, says, goes := tierSoft, !strings.Contains(text, "\n"), false, false
	eachStatement(text, always, func(st statement) {
		said := asWish(plainApostrophes(st.text))
		found := r.cues.read(said)
		decides := mayDecide(said, found) && r.cues.decides(said)
		if !decides && found&(cueMust|cuePrefer) == 0 && goesAhead(st.text) {
			goes = true
			return
		}
		says = true
		whole = whole && !st.heads && looksRule(st.text) && (decides || saysFirmly(st.text, found) && r.rulesBy(st, found, byUser)) && !asks(st.text) &&
			!opensQuestion(st.text) && (decides || found&cueMust != 0 || ensures(st.text, found) || !opensTask(st.text) && !requests(st.text)) && !r.lead[keyOf(bare(st.text))]
		if decides && found&(cueMust|cueLasts) == 0 {
			return
		}
		tier = min(tier, ruleTier(st.text, found, byUser))
	})
	switch {
	case !whole || !says, goes && tier < tierSoft:
		r.rules(request.newest(), text, byUser)
	case tier < tierSoft:
		r.rule(request.text, tier, request)
	default:
		it := *request
		it.kind, it.text, it.last, it.score = kindDecision, r.sign+it.text, false, 8
		r.decide(&it)
		r.decided = nil
	}
}

// mostGoingAhead is how many words a sentence has at most that only tells the agent to do what was chosen.
const mostGoingAhead = 12

// goesAhead says whether a sentence beside a choice only approves, or tells the agent to do what was chosen: "Great!",
// "Please proceed with the change.", "Can you book that for me?"
func goesAhead(s string) bool {
	said, nods := afterNods(s)
	switch {
	case nods && contentUpTo(said, 1) == 0:
		return true
	case strings.Count(s, " ") >= mostGoingAhead || hasValue(s):
		return false
	}
	return hasOpening(strings.TrimPrefix(strings.ToLower(s), "please "), "go ahead", "go on", "proceed", "do it", "do that") ||
		(requests(s) || opensTask(s)) && refers(s)
}

// rule adds a rule of a message.
func (r *reader) rule(text string, tier int, from *item) {
	if r.lead[keyOf(text)] {
		return
	}
	it := *from
	it.kind, it.text, it.sign, it.key, it.tier, it.last = kindRule, r.sign+text, r.sign, "", tier, false
	r.l.add(&it)
}

// ruleTier returns how firm a rule is. Whatever developers and operators say is meant as a rule.
func ruleTier(text string, found cue, by speaker) int {
	switch {
	case found&cueMust != 0, ensures(text, found), isMarkedImportant(text):
		return tierMust
	case found&cuePrefer != 0 && (by != byUser || !opensTask(text)), forbidsThings(text, found):
		return tierPrefer
	default:
		return tierSoft
	}
}

// looksRule says whether a statement can be a rule: it is prose, not an error message, and more than "no problem".
func looksRule(s string) bool {
	if !looksWritten(s) {
		return false
	}
	if score, _ := errorScore(s); score >= 3 || hasOpening(s, "error:", "error :", "exception:") {
		return false
	}
	if isASCII(s) && !strings.Contains(s, " ") || hasLineNumber(s) || strings.HasPrefix(s, "//") {
		return false
	}
	return len(s) > 24 || strings.Count(s, " ") > 2 || !hasPrefixAnyCase(s, "no ") && !hasPrefixAnyCase(s, "not ") && !hasPrefixAnyCase(s, "all ")
}

// hasLineNumber says whether a text has the number of a line of code in it, as tools show it before the line.
func hasLineNumber(s string) bool {
	if strings.IndexByte(s, ':') < 0 {
		return false
	}
	for word := range strings.FieldsSeq(s) {
		if n := len(word) - 1; n >= 2 && word[n] == ':' && isDigits(word[:n]) {
			return true
		}
	}
	return false
}

// opensTask says whether a sentence says what to do now, so that it does not hold for longer. Only a firm rule in it
// counts as a rule.
func opensTask(s string) bool {
	for _, polite := range []string{"please ", "can you ", "could you ", "now ", "then ", "and ", "also ", "let's ", "lets ", "ok, ", "next, "} {
		if hasPrefixAnyCase(s, polite) {
			s = s[len(polite):]
		}
	}
	end := 0
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	if end > 0 {
		return tasks[strings.ToLower(s[:end])]
	}
	for _, verb := range []string{"把", "给", "帮", "请把", "请给", "请帮", "现在", "写", "加", "改", "修", "实现", "添加", "新增", "创建", "删", "优化", "重命名", "查", "看", "跑"} {
		if strings.HasPrefix(s, verb) {
			return true
		}
	}
	return false
}

// tasks are verbs that begin tasks, and hardly ever rules.
var tasks = map[string]bool{
	"add": true, "rename": true, "write": true, "fix": true, "create": true, "implement": true, "move": true, "remove": true, "refactor": true,
	"update": true, "change": true, "make": true, "build": true, "look": true, "check": true, "find": true, "show": true, "explain": true, "review": true,
	"propose": true, "investigate": true, "set": true, "install": true, "extend": true, "split": true, "merge": true, "rewrite": true, "convert": true,
	"port": true, "migrate": true, "clean": true, "help": true, "tell": true, "give": true, "go": true, "continue": true, "commit": true, "push": true,
	"open": true, "replace": true, "try": true, "delete": true, "read": true, "list": true, "summarize": true, "debug": true,
	"downgrade": true, "upgrade": true, "cancel": true, "book": true, "transfer": true, "renew": true, "reserve": true, "refund": true, "order": true,
	"buy": true, "draft": true, "translate": true, "generate": true, "deploy": true, "revert": true, "undo": true, "redo": true,
}

func always(string) bool { return true }

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// opensQuestion says whether a sentence begins like a question, which people often write without a question mark.
func opensQuestion(s string) bool {
	for _, within := range []string{"能不能", "可不可以", "要不要", "是不是"} {
		if strings.Contains(s, within) {
			return true
		}
	}
	for _, opening := range []string{"can we ", "can you ", "can i ", "could we ", "could you ", "would you ", "will you ", "why ", "how ", "what ", "where ", "should we "} {
		if hasPrefixAnyCase(s, opening) {
			return true
		}
	}
	return false
}

// asks says whether a sentence ends like a question.
func asks(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "吗。") ||
		strings.HasSuffix(s, "ですか。") || strings.HasSuffix(s, "ますか。")
}
