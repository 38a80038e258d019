package extractive

import "strings"

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
