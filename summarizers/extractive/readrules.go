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
	listed, long := isDocument(text), units(text) > maxSaid
	before := ""
	eachStatement(text, always, func(st statement) {
		st.text = withoutTags(st.text)
		subject := before
		if before = st.text; !st.follows {
			subject = ""
		}
		if st.heads || isMark(st.text) || !looksRule(st.text) || len(st.text) < 4 || isASCII(st.text) && len(st.text) < 8 {
			return
		}
		found := r.cues.read(st.text)
		if by == byUser && long && found&cueDecided != 0 && found&cueMust == 0 && !asks(st.text) {
			r.l.add(&item{kind: kindDecision, text: shorten(bare(clip(st.text, 4096)), maxRule), cites: []uint32{index}, score: 8})
		}
		if !isRule(st.text, found, by) {
			return
		}
		before = ""
		body := bare(clip(st.text, 8*maxRule))
		if units(body) < shortRule && !hasValue(body) && !opensTask(subject) && !requests(subject) {
			// What it is about is in the sentence before.
			body = strings.TrimSpace(bare(clip(subject, 8*maxRule)) + " " + body)
		}
		r.rule(shorten(body, maxRule), ruleTier(st.text, found, by), &item{cites: []uint32{index}, by: by, listed: listed})
	})
}

// isRule says whether a statement with these cues is a rule.
func isRule(text string, found cue, by speaker) bool {
	firm := found&(cueMust|cuePrefer) != 0
	if !firm && (units(text) >= 240 || found&cueSoft == 0 && by == byUser) || (asks(text) || opensQuestion(text)) && found&cueAsks == 0 {
		return false
	}
	return firm || by != byUser || !opensTask(text) && !requests(text)
}

// saying reads a short message of the user. If each sentence of it is a rule or a decision, the whole message is one.
func (r *reader) saying(request *item, text string) {
	tier, whole := tierSoft, !strings.Contains(text, "\n")
	eachStatement(text, always, func(st statement) {
		found := r.cues.read(st.text)
		whole = whole && !st.heads && looksRule(st.text) && found&(cueMust|cuePrefer|cueDecided) != 0 && !asks(st.text) &&
			!opensQuestion(st.text) && (found&cueMust != 0 || !opensTask(st.text) && !requests(st.text)) && !r.lead[keyOf(bare(st.text))]
		tier = min(tier, ruleTier(st.text, found, byUser))
	})
	switch {
	case !whole:
		r.rules(request.oldest(), text, byUser)
	case tier < tierSoft:
		r.rule(request.text, tier, request)
	default:
		it := *request
		it.kind, it.last, it.score = kindDecision, false, 8
		r.l.add(&it)
	}
}

// rule adds a rule of a message.
func (r *reader) rule(text string, tier int, from *item) {
	if r.lead[keyOf(text)] {
		return
	}
	it := *from
	it.kind, it.text, it.key, it.tier, it.last = kindRule, text, "", tier, false
	r.l.add(&it)
}

// ruleTier returns how firm a rule is. Whatever developers and operators say is meant as a rule.
func ruleTier(text string, found cue, by speaker) int {
	switch {
	case found&cueMust != 0:
		return tierMust
	case found&cuePrefer != 0 && (by != byUser || !opensTask(text)):
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
	if score, _ := errorScore(s); score >= 3 {
		return false
	}
	if isASCII(s) && !strings.Contains(s, " ") || strings.HasPrefix(s, "//") {
		return false
	}
	return len(s) > 24 || strings.Count(s, " ") > 2 || !hasPrefixAnyCase(s, "no ") && !hasPrefixAnyCase(s, "not ") && !hasPrefixAnyCase(s, "all ")
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
	for _, opening := range []string{"can we ", "can you ", "can i ", "could we ", "could you ", "would you ", "will you ", "why ", "how ", "what ", "where ", "should we "} {
		if hasPrefixAnyCase(s, opening) {
			return true
		}
	}
	return false
}

// asks says whether a sentence ends like a question.
func asks(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "吗。")
}
