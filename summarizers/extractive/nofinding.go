package extractive

import (
	"slices"
	"strings"
)

// isQuotation says whether all of a text stands in one pair of quotation marks.
func isQuotation(text string) bool {
	for _, marks := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}} {
		if inner, opened := strings.CutPrefix(text, marks[0]); opened {
			inner, closed := strings.CutSuffix(strings.TrimRight(inner, ".,;"), marks[1])
			return closed && !strings.Contains(inner, marks[1])
		}
	}
	return false
}

// labelsOnly says whether an item of a list gives a name with hardly a word, such as "Flight number: HAT069". What it is the
// number of stands around the item.
func labelsOnly(text string) bool {
	beside := withoutNames(text)
	return len(beside) < len(text) && contentUpTo(beside, fewestLabelWords) < fewestLabelWords && !hasDigit(beside)
}

// fewestLabelWords is how many words an item of a list with a name has beside it that says what the name is of.
const fewestLabelWords = 3

// advises says whether a sentence tells the user, or a step of a plan, what to do, and not what is the case.
func advises(text string, found cue) bool {
	text = strings.TrimLeft(text, "*_ ")
	return found&(cueOffers|cueUpcoming) != 0 || opensTask(text) || hasOpening(text, "you can ", "you may ", "please ", "try ", "if you ", "i recommend ", "i suggest ")
}

// isDoingNow says whether a sentence only tells what the agent is doing at this moment.
func isDoingNow(text string) bool {
	text = plainApostrophes(strings.Trim(text, "*_ .!:"))
	if !strings.HasSuffix(text, " now") {
		return false
	}
	for _, opening := range []string{"i'm ", "i am ", "we're ", "we are "} {
		if hasPrefixAnyCase(text, opening) {
			return strings.HasSuffix(firstWord(text[len(opening):]), "ing")
		}
	}
	return false
}

// ofWork are the beginnings of sentences that tell what the agent has before it, or must do, and not what is the case.
var ofWork = inAnyCase(
	"we need ", "i need ", "we'll need ", "i'll need ", "we should ", "i should ", "we have to ", "i have to ", "we must ", "i must ", "we could ", "i could ",
	"we want ", "i want ", "we may ", "i may ", "we might ", "i might ", "we still need ", "i still need ", "we still have to ", "i still have to ", "i see i ",
	"i see we ", "i am looking ", "i'm looking ", "let's ", "let me ", "time to ", "it's time ",
	"ich muss ", "wir müssen ", "ich sollte ", "wir sollten ", "ich brauche ", "wir brauchen ", "ich will ", "wir wollen ", "man muss ",
	"necesito ", "necesitamos ", "tengo que ", "tenemos que ", "debo ", "debemos ", "hay que ", "quiero ", "queremos ",
	"je dois ", "nous devons ", "on doit ", "il faut ", "il nous faut ", "je veux ", "j'ai besoin ", "nous avons besoin ",
	"preciso ", "precisamos ", "tenho que ", "temos que ", "devo ", "devemos ", "quero ",
	"мне нужно ", "нам нужно ", "нужно ", "надо ", "мне надо ", "нам надо ", "я должен ", "мы должны ", "стоит ",
	"我需要", "我们需要", "需要", "我要", "我们要", "我应该", "我们应该", "应该",
)

// stating are words of such a beginning that leads to what is the case, and forbidding begin what must not be done, which says why.
var (
	stating    = inAnyCase("注意", "指出", "отметить", "учитывать", "иметь в виду", "noter", "remarquer", "tener en cuenta", "señalar", "notar", "beachten", "erwähnen", "note that", "keep in mind")
	forbidding = inAnyCase("we must not ", "i must not ", "we mustn't ", "we should not ", "we shouldn't ", "wir dürfen nicht ", "il ne faut pas ")
)

// endsOfWork are the ends of such sentences in languages with the verb last.
var endsOfWork = []string{"する必要がある", "する必要があります", "しなければならない", "しなければなりません", "べきだ", "べきです", "해야 한다", "해야 합니다", "해야 해요", "필요가 있다", "필요가 있습니다"}

// tellsOfWork says whether a sentence tells of the agent's own work: "To move the quay, we need its name."
func tellsOfWork(text string) bool {
	text = plainApostrophes(strings.TrimLeft(text, "*_ "))
	if !isASCII(text) {
		text = strings.ToLower(text)
	}
	if hasOpening(text, "to ", "in order to ", "in that case", "in this case", "if ", "when ", "um ", "para ", "pour ", "чтобы ") {
		if _, then, ok := strings.Cut(text, ", "); ok {
			text = then
		}
	}
	for _, opening := range []string{"so ", "now ", "and ", "then ", "thus ", "therefore ", "therefore, ", "but ", "also ", "also, ", "jetzt ", "also ", "ahora ", "maintenant ", "agora ", "теперь ", "现在", "所以", "那么"} {
		if hasPrefixAnyCase(text, opening) {
			text = text[len(opening):]
			break
		}
	}
	if stating.in(text) || forbidding.opens(text) {
		return false
	}
	if ofWork.opens(text) {
		return true
	}
	end := strings.TrimRight(text, "。.! ")
	return slices.ContainsFunc(endsOfWork, func(words string) bool { return strings.HasSuffix(end, words) })
}
