package extractive

import (
	"slices"
	"strings"
	"unicode"
)

// What people say about how things are, in the words of rules.

// reportsOnly says whether a sentence of the user says what goes wrong or what is not known, or reassures the agent.
func reportsOnly(text string) bool {
	return lacks(text) || guesses(text) || (hasAny(text, troubles) || hasAny(text, stays)) && !hasAny(text, ordering) && !hasOpening(text, imperatives...) || reassures(text)
}

// lacking are verbs after "don't" or "can't" at the beginning of a sentence that say what the user lacks.
var lacking = wordSet(`see have get know think understand find remember recall care mind worry feel believe reproduce connect open access tell log login build
	run start install wait help figure imagine say stand even really say seem work`)

// lacks says whether a sentence begins with what the user does not have, know or manage.
func lacks(text string) bool {
	for _, opening := range []string{"i ", "we ", "but ", "and ", "so ", "still "} {
		text, _ = cutOpening(text, opening)
	}
	for _, cannot := range []string{"can't ", "cannot ", "can not ", "don't ", "dont ", "do not ", "couldn't ", "could not "} {
		if rest, ok := cutOpening(text, cannot); ok {
			word := strings.Trim(firstWord(strings.ToLower(rest)), ".,;!?")
			// "Don't run the tests" is an order.
			return lacking[word] && (cannot[0] == 'c' || !orderable[word])
		}
	}
	return false
}

// orderable are those of these verbs that people also forbid.
var orderable = wordSet("get open access tell log login build run start install connect find wait help say work")

// guesses says whether a sentence guesses: "it must be a typo", "you must have missed it".
func guesses(text string) bool {
	lower := strings.ToLower(text)
	for _, guess := range []string{"must have been ", "must've ", "you must have ", "it must have ", "he must have ", "she must have ", "they must have ", "i must have ", "we must have ", "it can't be that ", "that can't be ", "can't be that ", "kann doch nicht ", "darf doch nicht ", "kann ja nicht "} {
		if strings.Contains(lower, guess) {
			return true
		}
	}
	_, thing, ok := strings.Cut(lower, "must be a")
	return ok && hasAny(thing, []string{"issue", "problem", "bug", "error", "mistake", "misunderstanding", "coincidence", "typo", "glitch", "reason"})
}

// troubles are words for what goes wrong, stays say that it has not changed, and ordering are words of orders.
var (
	troubles = []string{
		"error", "crash", "fails", "failing", "broken", "exception", "fehler", "abgestürzt", "kaputt", "erreur", "erro ", "falha", "ошибк", "падает", "报错", "错误", "崩溃", "エラー", "落ちる", "오류", "에러",
	}
	stays = []string{
		"immer noch", "immer wieder", "noch immer", "toujours pas", "toujours le même", "toujours la même", "todavía no", "sigue sin", "ainda não", "все еще", "всё ещё", "до сих пор", "还是不", "仍然", "依然", "まだ", "아직",
	}
	ordering = []string{
		"must", "should", "shall", "never", "n't ", "n’t ", "do not", "has to", "have to", "need", "please", "ensure", "make sure", "only", "muss", "müssen", "darf", "dürfen", "soll", "bitte", "niemals", "nur ",
		"debe", "no se ", "hay que", "por favor", "nunca", "solo ", "doit", "il faut", "jamais", "deve", "должн", "нельзя", "никогда", "пожалуйста", "必须", "不要", "要用", "请", "禁止", "务必", "别",
		"ください", "ないで", "禁止", "こと", "세요", "지 마", "금지", "반드시", "해야",
	}
	imperatives = []string{
		"always ", "no ", "keep ", "use ", "log ", "immer ", "siempre ", "sempre ", "avoid ", "treat ", "report ", "не ", "всегда ", "usa ", "utilise ", "verwende ", "nutze ", "ne ", "n'",
	}
)

// hasAny says whether a text contains one of some words, which are in lower case.
func hasAny(text string, words []string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
}

// reassures says whether a sentence tells the agent not to care.
func reassures(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "不能") && (strings.HasSuffix(text, "了") || strings.Contains(text, "报错")) {
		return true
	}
	return hasOpening(text, "never mind", "nevermind", "don't worry", "dont worry", "do not worry", "don't bother", "no worries", "no rush", "no hurry", "keep going", "keep it up", "keep at it",
		"keine sorge", "kein problem", "keine eile", "mach dir keine", "no te preocupes", "no pasa nada", "no hay problema", "ne t'inquiète", "il ne faut pas s'inquiéter", "pas de souci", "pas de problème",
		"não se preocupe", "não tem problema", "sem problema", "не волнуйся", "не переживай", "ничего страшного", "不要紧", "不用担心", "不要担心", "别担心", "没关系", "心配しないで", "気にしないで",
		"걱정하지 마", "걱정 마", "괜찮")
}

// choosesOnly says whether a short sentence names one of several options, and no more.
func choosesOnly(text string) bool {
	if choosesItems(text) {
		return true
	}
	if units(text) > maxPick || hasAny(text, []string{"not ", "never", "n't", "n’t"}) {
		return false
	}
	before := ""
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, ".,;!")
		switch word {
		case "option", "options", "variant":
			return contentUpTo(text, 5) < 5
		case "first", "second", "third", "last", "former", "latter":
			if before == "the" {
				return contentUpTo(text, 5) < 5
			}
		}
		before = word
	}
	return false
}

// choosingItems are verbs with which somebody says what becomes of the items of a list.
var choosingItems = wordSet(`skip do take fix leave drop apply implement ignore address handle omit überspringe überspring mach nimm behebe ignoriere salta omite haz toma
	arregla ignora saute fais prends corrige pule pula faça corrija пропусти сделай исправь игнорируй 跳过 忽略 只做 只修`)

// fewestItems is how many numbers such an order names at least: one alone may be an amount.
const fewestItems = 2

// mostItemDigits is how many digits the number of an item has at most: 404 is none.
const mostItemDigits = 2

// theRest is what such an order says of all other items, in lower case. Where anything else follows the numbers, they may be amounts.
var theRest = []string{
	"do the rest", "do the others", "do all others", "fix the rest", "fix the others", "leave the rest", "keep the rest", "take the rest", "apply the rest",
	"mach den rest", "haz el resto", "fais le reste", "faça o resto", "сделай остальные", "其他都做", "其他都修", "其他都登记", "其余都做",
}

// choosesItems says whether a sentence is an order about the items of a list, by their numbers: "skip 5, 7 and 8 and do the rest".
func choosesItems(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,;，、#", r) })
	if len(words) > 0 {
		// Chinese puts the number right behind the verb.
		if at := strings.IndexFunc(words[0], unicode.IsDigit); at > 0 {
			words = append([]string{words[0][:at], words[0][at:]}, words[1:]...)
		}
	}
	if len(words) == 0 || !choosingItems[words[0]] {
		return false
	}
	items := 0
	for i, word := range words[1:] {
		switch word = strings.TrimRight(word, ".!。"); {
		case isDigits(word) && word != "" && len(word) <= mostItemDigits:
			items++
		case word == "and", word == "und", word == "y", word == "et", word == "e", word == "и", word == "和":
		default:
			return items >= fewestItems && slices.Contains(theRest, strings.TrimRight(strings.Join(words[i+1:], " "), ".!。"))
		}
	}
	return items >= fewestItems
}

// maxPick is how many units a sentence has at most that only names an option.
const maxPick = 32

// withoutQuotations removes quotations from a sentence that has words outside of them.
func withoutQuotations(text string) string {
	for _, marks := range [][2]string{{"\"", "\""}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}} {
		if marks[0] != "\"" && isASCII(text) {
			break
		}
		for {
			before, rest, opened := strings.Cut(text, marks[0])
			_, after, closed := strings.Cut(rest, marks[1])
			if !opened || !closed {
				break
			}
			text = before + after
		}
	}
	return text
}
