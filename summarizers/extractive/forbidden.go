package extractive

import (
	"slices"
	"strings"
)

// maxForbidden is how many words a sentence has at most that only forbids things.
const maxForbidden = 16

// forbidsThings says whether a sentence is an order that names only what must not be somewhere: "No mocks in these tests",
// "Please no abbreviations". What tells that something is not there has a verb, or names what goes wrong.
func forbidsThings(text string, found cue) bool {
	if found&cueRecounts != 0 || asks(text) {
		return false
	}
	rest, polite := cutOpening(text, "please ")
	if also, ok := cutOpening(rest, "also "); ok {
		rest = also
	}
	rest, forbids := cutOpening(rest, "no ")
	words := strings.Fields(strings.ToLower(rest))
	if !forbids || len(words) == 0 || len(words) > maxForbidden || answered[strings.Trim(words[0], ",.")] {
		return false
	}
	placed := false
	for i, word := range words {
		word = strings.Trim(word, ",.;:!()")
		if telling[word] {
			return false
		}
		placed = placed || i > 0 && places[word] && i+1 < len(words)
	}
	return placed && !slices.ContainsFunc(words[:min(2, len(words))], func(w string) bool { return faultWords[strings.Trim(w, ",.;:!")] }) || polite
}

var (
	// places are words before the place where something must not be.
	places = wordSet("in on into inside within at from to outside between beside under without for before after")
	// telling are verbs with which a sentence tells something.
	telling = wordSet(`is are was were be been has have had do does did can could will would shows show showed shown found find finds see saw seen seems exist exists
		works work fine needed happened happens appears appear left yet`)
	// faultWords say what goes wrong: that there is none is news.
	faultWords = wordSet(`error errors problem problems issue issues failure failures warning warnings bug bugs difference differences luck idea clue doubt reason worries rush hurry
		trace result results output answer reply response news match matches hit hits sign such`)
)
