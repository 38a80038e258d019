package extractive

import (
	"slices"
	"strings"
)

// What has the words of a rule and is none.

// rulesBy says whether a statement with these cues is a rule of a speaker.
func (r *reader) rulesBy(st statement, found cue, by speaker) bool {
	if said := withoutQuotations(withoutReason(st.text)); len(said) < len(st.text) && !asks(st.text) && contentUpTo(said, 1) > 0 {
		found = r.cues.read(said)
		st.text = said
		if found&(cueMust|cuePrefer|cueSoft|cueEnsures) == 0 {
			return false
		}
	}
	if found&cueRecounts != 0 && found&cuePrefer != 0 {
		// "Keep the old endpoint, some customers still call it": it tells after the rule.
		if clause, _, ok := strings.Cut(st.text, ", "); ok {
			if first := r.cues.read(clause); first&cuePrefer != 0 && first&cueRecounts == 0 {
				found &^= cueRecounts
			}
		}
	}
	return isRule(st.text, found, by) && !r.isNoRule(st, found, by)
}

// tierOf returns how firm the firmest rule is in what the user said, or tierSoft.
func (r *reader) tierOf(said string) int {
	tier := tierSoft
	eachStatement(clip(said, maxProse), never, func(st statement) {
		if found := r.cues.read(st.text); looksRule(st.text) && saysFirmly(st.text, found) && r.rulesBy(st, found, byUser) {
			tier = min(tier, ruleTier(st.text, found, byUser))
		}
	})
	return tier
}

// isNoRule says whether a statement with these cues only has the words of a rule.
func (r *reader) isNoRule(st statement, found cue, by speaker) bool {
	text := plainApostrophes(st.text)
	switch {
	case tellsOfThePast(text), by == byUser && (reportsOnly(text) || choosesOnly(text)), hasOpening(text, "为什么", "为啥", "怎么"):
		return true
	case r.permitsOnly(text), r.remindsOnly(text):
		return true
	case found&(cueMust|cueLasts) != 0:
		return false
	default:
		return st.numbered && opensStep(text) || givesExample(text) || refusesOnly(text) || allowsOnly(text) || announcesOnly(text) ||
			by == byUser && (r.asksPolitely(text) || r.qualifiesOnly(text))
	}
}

// reasons are words that begin the reason of a statement.
var reasons = []string{
	" because ", ", since ", ", as ", " weil ", " denn ", " porque ", ", ya que ", ", pois ", " parce que ", ", car ", " puisque ", " потому что ", " так как ", "，因为", "，因為",
}

// givingReasons find most sentences without one at once.
var givingReasons = inAnyCase(reasons...)

// withoutReason returns a statement without the reason that it gives after some words.
func withoutReason(text string) string {
	if !givingReasons.in(text) {
		return text
	}
	for _, word := range reasons {
		if said, _, ok := strings.Cut(text, word); ok && (strings.Count(said, " ") > 1 || !isASCII(said)) {
			return said
		}
	}
	return text
}

// qualifying are words that say how much or when in a request, and do not make a rule of it.
var qualifying = strings.NewReplacer("at least", "", "at most", "", "if possible", "", "where possible", "", "unless", "")

// qualifiesOnly says whether a request has only such words of a rule.
func (r *reader) qualifiesOnly(text string) bool {
	asks := opensTask(text) || requests(text) || containsAnyCase(text, "pls ")
	return asks && r.cues.read(qualifying.Replace(text))&(cuePrefer|cueEnsures) == 0
}

// past are forms of verbs after which "always" and "never" tell what was.
var past = wordSet("saw had got came went knew thought did was were worked happened failed showed wanted used said told made took found")

// tellsOfThePast says whether each "always" and "never" of a sentence stands before a verb in the past, or the sentence
// complains that something "still" is so.
func tellsOfThePast(text string) bool {
	still := hasOpening(text, "still ")
	told := still
	words := strings.Fields(strings.ToLower(text))
	for i, word := range words {
		switch {
		case (word == "always" || word == "never") && !still:
			if i+1 == len(words) || i == 0 || !past[strings.Trim(words[i+1], ".,;!")] || words[i-1] == "be" {
				return false
			}
			told = true
		case word == "must", word == "don't", word == "not", word == "only":
			return false
		}
	}
	return told
}

// opensStep says whether an item of a numbered list begins with what to do in this step.
func opensStep(text string) bool {
	return opensTask(text) || steps[firstWord(strings.ToLower(strings.TrimLeft(text, "*_ ")))]
}

// steps are verbs that begin steps of procedures, beside those that begin tasks.
var steps = wordSet(`run verify test inspect analyze analyse explore reproduce identify determine confirm start begin repeat wait think call launch collect
	gather present ask search load save print report compare consider decide define describe design detect discover dispatch edit enter examine execute
	extract fetch finish follow invoke locate note obtain parse pick plan prepare process query receive record resolve respond return scan select send
	submit trace understand validate view visit walk`)

// givesExample says whether a sentence begins an example or a scenario.
func givesExample(text string) bool {
	for _, glue := range []string{"so ", "now ", "and ", "also ", "ok ", "okay "} {
		if hasPrefixAnyCase(text, glue) {
			text = text[len(glue):]
		}
	}
	return hasOpening(text, "for example", "for instance", "e.g.", "let's say", "lets say", "suppose ", "imagine ", "zum beispiel", "z.b.", "angenommen", "nehmen wir an",
		"por ejemplo", "supongamos", "imagina ", "por exemplo", "digamos", "par ex", "supposons", "imaginons", "например", "допустим", "предположим",
		"例如", "比如", "假设", "假如", "例えば", "たとえば", "예를 들어", "예를 들면")
}

// answered are words that "no" at the beginning of a sentence cannot belong to.
var answered = wordSet("just the i it that we you this they need lets let's and so but he she not because thanks thank sorry wait please")

// refusesOnly says whether "no" at the beginning of a sentence answers a question, and forbids nothing.
func refusesOnly(text string) bool {
	rest, ok := cutOpening(text, "no ")
	return ok && answered[strings.Trim(firstWord(strings.ToLower(rest)), ",")]
}

// allowsOnly says whether a sentence only says that it does not matter whether something is there.
func allowsOnly(text string) bool {
	rest, ok := cutOpening(text, "no ")
	words := strings.Fields(strings.ToLower(rest))
	return ok && len(words) > 2 && slices.ContainsFunc([]int{1, 2}, func(i int) bool {
		return words[i] == "is" && i+1 < len(words) && allowing[strings.Trim(words[i+1], ".,;!")]
	})
}

var allowing = wordSet("fine ok okay good alright acceptable")

// permitting open sentences that leave it to the agent whether it does something.
var permitting = []string{"you do not need to ", "you don't need to ", "you do not have to ", "you don't have to ", "you need not ", "there is no need to ", "there's no need to ", "feel free to "}

// permitsOnly says whether a sentence only leaves something to the agent: "You do not need to follow the example."
func (r *reader) permitsOnly(text string) bool {
	for _, opening := range permitting {
		if rest, ok := cutOpening(text, opening); ok {
			return r.cues.read(rest)&(cueMust|cuePrefer|cueLasts) == 0
		}
	}
	return false
}

// remindsOnly says whether a sentence reminds the agent of a thing, and not to do something or that something holds:
// "Also remember the plan in notes/plan.md".
func (r *reader) remindsOnly(text string) bool {
	before, rest, ok := strings.Cut(strings.ToLower(text), "remember ")
	if !ok || strings.Count(before, " ") > 2 || hasOpening(rest, "to ", "that ", "not ", "- ", "– ") {
		return false
	}
	return r.cues.read(before+rest)&(cueMust|cuePrefer|cueLasts|cueEnsures) == 0
}

// announcing are words for what a message is, and announcesOnly says whether a short sentence only says that.
var announcing = []string{"correction", "change of plan", "changes of plan", "plans changed", "heads up", "heads-up", "one more thing", "one thing", "quick note", "short note", "quick question", "update for you"}

func announcesOnly(text string) bool {
	if units(text) > shortRule || hasValue(text) {
		return false
	}
	return slices.ContainsFunc(announcing, func(a string) bool { return containsAnyCase(text, a) })
}

// cutOpening cuts an opening off a text, in any case.
func cutOpening(text, opening string) (rest string, ok bool) {
	if !hasPrefixAnyCase(text, opening) {
		return text, false
	}
	return text[len(opening):], true
}

// pleas begin requests in languages other than English.
var pleas = []string{
	"kannst du", "könntest du", "können sie", "könnten sie", "kannst mir", "puedes", "podrías", "puede usted", "podría", "peux-tu", "tu peux", "pouvez-vous", "pourrais-tu", "pourriez-vous",
	"você pode", "pode me", "poderia", "можешь", "можете", "сможешь",
}

// asksPolitely says whether a sentence asks the agent in another language to do something now, and is a rule only by the
// form of that.
func (r *reader) asksPolitely(text string) bool {
	if hasOpening(text, pleas...) {
		return true
	}
	end := strings.TrimRight(text, "。！!.~〜 ")
	for _, polite := range []string{"ください", "下さい", "ほしいです", "ほしい", "欲しいです", "欲しい", "주세요"} {
		said, ok := strings.CutSuffix(end, polite)
		if !ok {
			continue
		}
		said = strings.TrimRight(said, " ")
		if slices.ContainsFunc(restricting, func(word string) bool { return strings.Contains(said, word) }) {
			return false
		}
		return r.cues.read(said)&(cueMust|cuePrefer) == 0 && slices.ContainsFunc(asked, func(verb string) bool { return strings.HasSuffix(said, verb) })
	}
	return false
}

// restricting are Japanese and Korean words that say how something is to be done, or what is to stay.
var restricting = []string{"だけ", "のみ", "しか", "以外", "まま", "なく", "ずに", "ないで", "時は", "ときは", "場合は", "만 ", "말고", "않", "그대로", "때는", "경우"}

// asked are the ends of Japanese and Korean verbs that begin tasks, as they stand before "please".
var asked = []string{
	"書いて", "表示して", "並べて", "追加して", "修正して", "作成して", "作って", "実装して", "コミットして", "直して", "確認して", "調べて", "見て", "教えて", "変更して", "変えて", "削除して", "消して", "考慮して", "続けて", "進めて",
	"説明して", "更新して", "対応して", "プッシュして", "マージして", "移動して", "テストして", "実行して", "レビューして", "試して", "戻して", "出して", "まとめて", "送って", "読んで", "探して", "お願いして", "予約して", "キャンセルして",
	"추가해", "수정해", "만들어", "작성해", "구현해", "확인해", "고쳐", "커밋해", "삭제해", "보여", "알려", "바꿔", "변경해", "설명해", "찾아", "실행해", "진행해", "업데이트해", "검토해", "정리해", "예약해", "취소해", "보내", "읽어", "계속해",
}
