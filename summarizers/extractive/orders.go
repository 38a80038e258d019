package extractive

import (
	"slices"
	"strings"
)

// endOrders drops what the user ordered for the time being: an order bound to its task when the next task comes, and one
// not to do something when the user asks for exactly that. In doubt an order stays.
func (r *reader) endOrders(index uint32, said string) {
	if len(r.l.lists[kindRule]) == 0 || units(said) > maxSaid {
		return
	}
	asked := r.cues.read(said)&cueMust == 0 && !asks(said)
	next := asked && r.cues.substanceOf(said) == task && (opensTask(said) || requests(said)) && !hasOpening(said, "and ", "also ", "then ")
	if !asked {
		return
	}
	words := wordsOf(said)
	r.l.dropItems(kindRule, func(it *item) bool {
		if it.by != byUser || it.listed || len(it.cites) == 0 || it.newest() >= index {
			return false
		}
		o := r.orderIn(it)
		return next && o.bound || o.isCancelledBy(words)
	})
}

// userOrder is what tells when a rule of the user ends.
type userOrder struct {
	// rule is the text that it was read from.
	rule string
	// bound says that it is bound to its task.
	bound bool
	// verb is the first word of what it forbids, if that is a task, and forbidden are all words of it that say something.
	verb      string
	forbidden []string
}

// orderIn returns the order in a rule. A long one has none. Each message is compared with all rules, so a rule is read
// once.
func (r *reader) orderIn(it *item) *userOrder {
	if it.order != nil && it.order.rule == it.text {
		return it.order
	}
	o := userOrder{rule: it.text}
	if units(it.text) <= maxSaid {
		o.bound = isBound(it.text)
		o.verb, o.forbidden = forbiddenIn(it.text)
		if (o.bound || o.verb != "") && r.cues.read(it.text)&cueLasts != 0 {
			o = userOrder{rule: it.text}
		}
	}
	it.order = &o
	return it.order
}

// bounds are words that bind an order to its task.
var bounds = []string{
	"for now", "yet", "at this point", "this time", "only look", "only check", "only validate", "only review", "only read", "only analyze", "only explain", "just look", "just check",
	"just validate", "just review", "just read", "just analyze", "just explain", "just tell", "just show", "just list", "just plan", "just answer", "just investigate",
	"don't fix anything", "don't change anything", "do not change anything", "don't do anything", "don't edit anything", "don't write any code",
	"por ahora", "todavía no", "por lo pronto", "por enquanto", "por agora", "pour l'instant", "pour le moment", "vorerst", "erstmal", "erst mal", "пока не", "暂时", "先不要", "先别", "とりあえず", "まだ", "일단", "아직",
}

// isBound says whether an order is bound to its task.
func isBound(order string) bool {
	return slices.ContainsFunc(bounds, func(b string) bool {
		for i := 0; i+len(b) <= len(order); i++ {
			if hasPrefixAnyCase(order[i:], b) && (!isASCII(b) || wordEnds(order, i, i+len(b))) {
				return true
			}
		}
		return false
	})
}

// wordEnds says whether text[start:end] is not within a longer word.
func wordEnds(text string, start, end int) bool {
	return (start == 0 || !isLetter(text[start-1])) && (end == len(text) || !isLetter(text[end]))
}

// forbiddenIn returns what a rule forbids: the verb after "don't", if it is that of a task, and all words that say what
// the rule names with it.
func forbiddenIn(rule string) (verb string, words []string) {
	lower, rest := strings.ToLower(rule), ""
	for _, dont := range []string{"don't ", "don’t ", "do not ", "dont "} {
		if _, after, ok := strings.Cut(lower, dont); ok {
			rest = after
			break
		}
	}
	if i := strings.IndexAny(rest, ",;.!—"); i >= 0 {
		rest = rest[:i]
	}
	verb = firstWord(rest)
	if !tasks[verb] && verb != "merge" && verb != "release" {
		return "", nil
	}
	for word := range wordsOf(rest) {
		if !emptyWords[word] {
			words = append(words, word)
		}
	}
	return verb, words
}

// isCancelledBy says whether the words of a message ask for exactly what the order forbids.
func (o *userOrder) isCancelledBy(said map[string]bool) bool {
	return o.verb != "" && said[o.verb] && !said["don't"] && !said["not"] &&
		!slices.ContainsFunc(o.forbidden, func(word string) bool { return !said[word] })
}

// emptyWords may be in an order without saying what it is about.
var emptyWords = wordSet("yet anything it this that them now for me please the a an any just so far my your our")

// wordsOf are the words of a text in lower case.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		words[strings.Trim(strings.ReplaceAll(word, "’", "'"), "`\"'.,:;!?()[]“”*")] = true
	}
	return words
}
