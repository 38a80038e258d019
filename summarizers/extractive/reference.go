package extractive

import (
	"slices"
	"strings"
)

// shortAnswer is how many units an answer has at most that says nothing without what it answers, and longReference how
// many one may have that refers to it by a word.
const (
	shortAnswer   = 24
	longReference = 80
)

// maxAnswered returns how many units of what an answer refers to are shown beside it.
func maxAnswered(said string) int {
	if units(said) < shortAnswer {
		return 160
	}
	return 80
}

// referring are words that stand for something named before.
var referring = wordSet(`this that these those them nothing both neither das dies diese nichts beides eso esto nada ambos ça cela rien isso isto это то ничего
	тот`)

// afterReference are words that may follow such a word if no noun does.
var afterReference = wordSet(`again too also instead first now then back out up off down away and or but because since as for in on to with without please anymore
	wieder auch jetzt erst und oder aber weil für de nuevo también ahora y o pero porque para encore aussi maintenant et ou mais car pour também agora e mas
	снова тоже сейчас и или но потому`)

// onlyAnswers says whether an answer says nothing by itself: it is short in units and in words, and has no value. A script
// with short words can say a whole rule in a few units, so words count, too.
func onlyAnswers(said string) bool {
	label, _ := labelled(said)
	return units(said) < shortAnswer && label == "" && !hasValue(said) && contentUpTo(said, goalWords) < goalWords
}

// fewReferring is how many words a message has at most that only refers to something.
const fewReferring = 20

// leansBack says whether an answer cannot be understood without what the agent said before it: it is very short, or a
// word in it stands for something there.
func leansBack(said string) bool { return units(said) < shortAnswer || pointsBack(said) }

// pointsBack says whether a word of a short message stands for something that was said before it.
func pointsBack(said string) bool {
	if units(said) > longReference || strings.Contains(said, lineBreak) {
		return false
	}
	tokens := tokensOf(strings.ToLower(said))
	if len(tokens) == 0 || len(tokens) > fewReferring {
		return false
	}
	return slices.ContainsFunc(tokens, func(t token) bool { return referring[t.text] && t.ends }) || referring[tokens[len(tokens)-1].text] ||
		slices.ContainsFunc(pairsOf(tokens), func(two [2]token) bool { return referring[two[0].text] && afterReference[two[1].text] })
}

// pairsOf returns the words of a text with the one after each.
func pairsOf(tokens []token) (list [][2]token) {
	for i := 1; i < len(tokens); i++ {
		list = append(list, [2]token{tokens[i-1], tokens[i]})
	}
	return list
}
