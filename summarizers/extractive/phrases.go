package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/internal/lazily"
)

// phrase is a sequence of words that suggests a cue.
type phrase struct {
	first string
	// rest are the words after the first one, and least is how many there are at least.
	rest  []wanted
	least int
	cue   cue
	// tongue is the language that the sentence must be in, or anyTongue.
	tongue tongue
	// opening says that the phrase counts only at the beginning of a clause, where a verb is an imperative.
	opening bool
	// unless are words directly before the phrase that cancel it.
	unless []string
}

// wanted is a place in a phrase.
type wanted struct {
	how  matching
	text string
}

// matching says which words fit into a place of a phrase.
type matching uint8

const (
	theWord matching = iota
	// anyWord is written "*": one word of the same clause.
	anyWord
	// someWords is written "…": up to maxGap words of the same clause.
	someWords
	// ending is written "~ado": a word with that ending.
	ending
)

// maxGap is how many words a gap has at most.
const maxGap = 7

// group are phrases with the same cue.
type group struct {
	cue     cue
	opening bool
	unless  []string
	phrases []string
}

// phrases are the phrases of all languages with spaces. They keep apostrophes; typographic ones
// count as plain ones. Most runs of the program need none, so they are compiled when they are first needed.
var phrases = lazily.Value(func() *phraseTable {
	return compile([tongues][]group{
		anyTongue: slices.Concat(english, otherRules), inEnglish: englishOnly, inSpanish: spanish, inPortuguese: portuguese, inFrench: french, inGerman: german,
		inRussian: russian,
	})
})

// phraseTable finds phrases by the hash of their first word, or of their first two words. The words themselves must
// still be compared.
type phraseTable struct {
	hashes  [tableSize]uint32
	phrases [tableSize][]phrase
}

// tableSize is a power of two, several times the number of hashes.
const tableSize = 8192

// pairHash returns the hash of two words.
func pairHash(first, second uint32) uint32 { return (first^second>>7)*hashFactor + second }

// slot returns the place of a hash, or the free one where it belongs.
func (t *phraseTable) slot(hash uint32) uint32 {
	i := (hash ^ hash>>15) % tableSize
	for t.hashes[i] != 0 && t.hashes[i] != hash {
		i = (i + 1) % tableSize
	}
	return i
}

// of returns the phrases with a hash. Most words begin none, so it looks at the hashes first, which are fewer bytes.
func (t *phraseTable) of(hash uint32) []phrase {
	i := t.slot(hash)
	if t.hashes[i] == 0 {
		return nil
	}
	return t.phrases[i]
}

func compile(groups [tongues][]group) *phraseTable {
	table := &phraseTable{}
	for t, list := range groups {
		for _, g := range list {
			for _, text := range g.phrases {
				p := phrase{cue: g.cue, tongue: tongue(t), opening: g.opening, unless: g.unless}
				hash := p.compile(text)
				slot := table.slot(hash)
				table.hashes[slot] = hash
				table.phrases[slot] = append(table.phrases[slot], p)
			}
		}
	}
	return table
}

// compile reads the words of a phrase, and returns the hash that finds it.
func (p *phrase) compile(text string) (hash uint32) {
	var words wordScanner
	var all []wanted
	var hashes []uint32
	for _, part := range strings.Fields(text) {
		switch {
		case part == "*":
			all = append(all, wanted{how: anyWord})
		case part == "…":
			all = append(all, wanted{how: someWords})
		case strings.HasPrefix(part, "~"):
			all = append(all, wanted{ending, part[1:]})
		default:
			words.scan(part)
			for i, span := range words.spans {
				all, hashes = append(all, wanted{theWord, words.word(i)}), append(hashes, span.hash)
			}
		}
	}
	p.first, p.rest = all[0].text, all[1:]
	for _, w := range p.rest {
		if w.how != someWords {
			p.least++
		}
	}
	if len(p.rest) > 0 && p.rest[0].how == theWord {
		return pairHash(hashes[0], hashes[1])
	}
	return hashes[0]
}

// subjects are words after which "never", "always" and the like describe something instead of giving a rule.
var subjects = []string{
	"i", "it", "that", "this", "he", "she", "they", "has", "have", "had", "was", "were", "which", "is", "are", "almost",
	"nearly", "not", "isn't", "doesn't",
}

// describes are the words before "may not" that say what may be otherwise.
var describes = []string{"it", "this", "that", "they", "which", "i", "these", "there", "or"}

// englishOnly are phrases whose words mean something else in other languages.
var englishOnly = []group{
	{cueSoft, true, nil, []string{"no *"}},
}

var english = []group{
	{cueMust, false, nil, []string{
		"must", "mustn't", "mandatory", "forbidden", "prohibited", "prohibit", "not allowed", "isn't allowed",
		"aren't allowed", "no exceptions", "under no circumstances", "under any circumstances",
		"be careful", "at all costs", "off limits", "off-limits", "hands off", "whatever you do", "every … needs", "each … needs", "every … requires", "each … requires", "stay untouched", "stays untouched", "remain untouched", "remains untouched", "non-negotiable", "from now on",
		"remember to", "should not", "shouldn't", "should never", "should always", "should only", "you may not", "shall", "it is important", "it's important", "important that", "important to", "refuse to", "do not want", "don't want", "don't ever",
		"strictly", "essential", "crucial", "vital", "imperative", "whatever happens", "ask me", "ask first", "check with me", "confirm with me", "wait for my", "needs my", "has to", "have to stay", "has to stay", "need to stay", "needs to stay", "is required", "are required",
		"is a requirement", "hard requirement", "hard rule", "no matter what", "without my", "without asking", "without approval", "without permission",
	}},
	{cueMust, false, []string{"if", "when", "why", "since", "because", "so", "that", "where"}, []string{"you cannot", "you can't", "we cannot", "we can't"}},
	{cueEnsures, false, nil, []string{"make sure", "be sure to", "ensure"}},
	{cueMust, false, subjects, []string{"never", "always"}},
	{cueLasts, false, nil, []string{
		"never", "always", "from now on", "at all times", "at any time", "under no circumstances", "ever", "whenever", "every time", "each time", "as a rule",
		"no exceptions", "in general", "by default", "no matter what", "each", "every",
	}},
	{cueMust, true, nil, []string{
		"do not", "don't", "dont", "avoid", "cannot", "can't", "remember", "keep in mind", "under no",
		"required", "stop doing", "stop using", "refrain",
	}},
	{cueMust, false, describes, []string{
		"may not appear", "may not contain", "may not use", "may not be ~ed", "may not change", "may not touch", "may not exceed", "may not leave", "may not write",
		"may not call", "may not access", "may not depend", "may not import", "may not read",
	}},
	{cueMust, false, nil, []string{
		"can't be", "cannot be", "can not be", "must be", "let's not", "nobody", "no one", "nothing may", "nothing is to", "at all times",
		"at any time", "is not to be", "are not to be", "not permitted", "isn't permitted", "no longer allowed", "is a must", "deal breaker",
	}},
	{cuePrefer, false, []string{"i", "it", "has", "have", "had", "was", "were", "that", "he", "she", "they"}, []string{"never", "always"}},
	{cueSoft, false, nil, []string{
		"have to be", "has to be", "everywhere", "throughout", "across the board", "before committing", "before you", "before each", "before every",
		"before merging", "before pushing", "after each", "after every", "each time", "every time", "whenever", "belongs in", "belong in", "goes through",
		"go through", "dislike", "dislikes", "hate", "hates", "do not like", "don't like", "not a fan", "big fan", "compatibility", "compatible", "conventions",
		"naming convention", "style guide", "code style", "is fine as long as", "as long as", "or later", "or newer", "and later", "up to date with",
	}},
	{cueSoft, true, nil, []string{
		"not", "every", "each", "all", "none of", "any", "be *", "skip", "do all", "nothing", "write in", "speak", "respond", "reply",
		"name all", "put all", "work on", "work in", "stop", "sign",
	}},
	{cuePrefer, false, nil, []string{
		"rather than", "prefer", "prefers", "preferred", "preferably", "preference", "stick to", "stick with", "no more than", "no longer than",
		"no less than", "not more than", "at most", "at least", "i'd rather", "i would rather", "whenever possible", "if possible", "where possible",
		"wherever possible", "unless", "nothing but", "limited to", "as a rule", "please use", "before committing", "before merging", "before pushing",
		"across the board", "dislike", "dislikes", "hate", "hates", "not a fan", "as long as",
	}},
	{cuePrefer, true, nil, []string{
		"only", "keep", "use", "no new", "no more", "no additional", "no external", "no extra", "no other", "no emojis", "no emoji", "no mocks",
		"no comments", "no abbreviations", "no third-party", "no global", "no hardcoded", "no hard-coded", "leave", "follow", "respect", "limit", "write all", "answer in", "reply in", "respond in",
		"stay", "treat", "restrict", "max", "maximum", "next time",
	}},
	{cueSoft, false, nil, []string{
		"instead of", "by default", "i like", "i'd like", "i would like", "favor", "favour", "only", "we want", "ideally",
	}},
	{cueSoft, false, nil, []string{
		"should", "i want", "needs to be", "need to be", "needs to", "need to", "needs a", "need a", "expected to", "without", "have to", "every", "each",
		"all of", "spelling", "style", "wants", "likes",
	}},
	{cueRecounts, false, nil, []string{
		"i think", "i guess", "i feel", "in theory", "right now", "currently", "i got", "we got", "i saw", "we saw", "i see", "i noticed", "we noticed", "i tried", "we tried",
		"seems", "seem", "seemed", "looks like", "look like", "was", "were", "had", "did", "didn't", "wasn't", "weren't", "happened", "happens", "popped up", "showing",
		"shows", "maybe", "perhaps", "likely", "might", "could", "would", "i'm wondering", "i wonder", "i'm not sure", "not sure", "fails", "failed", "crashes", "crashed", "still",
		"overwrites", "turned out", "turns out", "doesn't work", "isn't working", "not working", "i found", "we found", "probably", "for some reason", "reported",
		"i have", "i've", "i need", "i do need", "i don't have", "i do not have", "i just", "i realized", "i apologize", "i understand", "i really", "i checked", "i'm just", "i'll", "i will", "i can", "we can",
		"we use", "we have", "we had", "is shown", "are shown", "in that case", "hmm", "at the moment", "once we", "i am", "i'm", "i do",
	}},
	{cueAsks, false, nil, []string{"make sure", "please"}},

	{cueDecided, false, []string{"yet", "be", "not"}, []string{
		"decided to", "decided on", "decided that", "decided against", "decided for", "decided in", "i decided", "we decided", "was decided", "been decided", "i've decided", "we've decided",
	}},
	{cueDecided, false, []string{"not", "to", "you", "they", "it", "he", "she", "don't", "didn't"}, []string{
		"going with", "went with", "chose", "opted for", "opted to", "opting for", "settled on", "settling on", "agreed on", "agreed to", "agreed that", "we agreed",
		"ruled out", "switched to", "switched from",
	}},
	{cueDecided, false, nil, []string{
		"i'll go with", "i will go with", "we'll go with", "we will go with", "we go with", "i go with", "let's go with", "lets go with", "i'd go with", "we'll go for",
		"let's go for", "i'd like to go with", "i'd like to choose", "i choose", "we choose", "i've chosen", "we've chosen", "have chosen", "i picked", "we picked", "i've picked", "we've picked",
		"i've settled", "we've settled", "final decision", "the decision is", "the decision was", "decision made", "verdict is", "made the decision", "my choice is",
		"our choice is", "is the winner", "it is then",
	}},
	{cueDecided, true, nil, []string{"decided", "go with", "decision made", "final call"}},
	{cueTakes, false, nil, []string{
		"i'll use", "i will use", "will use", "we're using", "we are using", "i used", "we used", "i'm using", "i am using", "let's use", "now uses", "now use", "now defaults to", "now default to",
		"now calls", "now call", "now reads", "now stores", "now store", "now groups", "now group", "now called", "changed … to use", "changed … to compare", "changed … to read", "changed … to store",
		"changed … to call", "changed … to group", "updated … to use", "updated … to read", "updated … to call", "rewrote … to use", "i'll keep", "let's keep", "i put", "we put", "we'll put", "i moved", "we moved", "switch to", "switching to", "i implemented", "we implemented",
		"i stored", "i replaced", "we replace", "we replaced",
	}},
	{cueStays, false, nil, []string{
		"we'll use", "we will use", "we use", "we keep", "we'll keep", "we will keep", "i keep", "i kept", "we kept", "we stay with", "we'll stay with", "i stay with", "we stick with", "we stick to",
		"we'll stick to", "we'll stick with", "sticking with", "we build on", "we'll build on", "we store", "we'll store",
	}},
	{cueCompares, false, nil, []string{"instead of", "rather than", "in favor of", "in favour of", "as opposed to"}},
	{cueHedges, false, nil, []string{
		"maybe", "might", "could", "would", "possibly", "perhaps", "probably", "most likely", "likely to", "one way", "another way", "another option", "another possible", "other option",
		"one option", "an option", "alternative", "alternatively", "alternatives", "seems", "seem", "i think", "if", "either", "consider", "considering", "considered", "propose",
		"suggest", "recommend", "not sure", "unless", "you decided", "you chose", "who decided", "supposed to", "depends on whether", "let me", "yet to", "should be", "should we", "we should",
		"i should", "it should", "may be", "may want", "we may", "i may", "can be", "or we", "we can", "you can", "going to be", "not decided", "not chosen", "undecided", "expected to",
	}},
	{cueGuesses, false, nil, []string{
		"maybe", "perhaps", "possibly", "probably", "might", "may be", "seems", "seem", "i think", "i suspect", "i guess", "one possibility", "another possibility", "could be", "most likely",
		"it looks like", "not sure", "i wonder", "possible fix", "hypothesis", "unclear whether",
	}},
	{cueProposes, false, nil, []string{
		"i suggest", "i'd suggest", "i would suggest", "i recommend", "i'd recommend", "i would recommend", "i propose", "i'd propose", "my recommendation", "my suggestion",
		"my proposal", "i'd go with", "i would go with", "i'd use", "i would use", "i'd keep", "i would keep", "recommended approach", "best option is", "best approach is",
	}},
	{cueProposes, true, nil, []string{"recommendation", "suggestion", "proposal", "recommended", "proposed"}},
	{cueWhy, false, nil, []string{
		"because", "since", "so that", "due to", "the reason", "reason is", "this way", "this avoids", "which avoids", "as it", "otherwise",
		"this keeps", "that way", "reason:", "why:",
	}},

	{cueDone, true, nil, []string{
		"done", "fixed", "added", "implemented", "created", "updated", "removed", "renamed", "refactored", "completed",
		"finished", "committed", "pushed", "merged", "deployed", "migrated", "installed", "wrote", "verified", "changed",
		"moved", "replaced", "resolved", "rewrote", "extracted", "reverted", "released", "published", "deleted", "upgraded",
	}},
	{cueDone, false, nil, []string{
		"i've", "i have added", "i have fixed", "i have updated", "i have created", "i have implemented", "we've", "i added",
		"i fixed", "i created", "i changed", "i updated", "i removed", "i renamed", "i replaced", "i moved", "i wrote", "i booked", "i cancelled",
		"now works", "works now", "tests pass", "test passes", "all pass", "all passing", "tests are passing", "build succeeded", "build passes", "has been",
		"have been", "is complete", "are complete", "is done", "successfully", "is fixed", "is green",
	}},
	{cueFixed, false, nil, []string{
		"fixed", "resolved", "solved", "works now", "now works", "gone", "no longer fails", "no longer", "passes now", "now passes",
		"is fine now", "cleared up",
	}},
	{cueNot, false, nil, []string{
		"not", "isn't", "wasn't", "hasn't", "still", "never", "cannot", "can't", "yet to", "should be fixed", "to be fixed", "once",
		"unresolved", "unsolved",
	}},
	{cueNext, false, nil, []string{
		"next step is", "next steps are", "next step will", "next steps will", "next task is", "i still need to", "we still need to", "still needs to be", "still need to be",
		"still have to be", "still has to be", "i still have to", "we still have to", "left to do", "left to be done", "what's left", "what is left", "remains to be", "yet to be",
		"still to do", "still to be done", "still missing", "not yet done", "not yet implemented", "not implemented yet", "remaining work is", "remaining step is",
		"remaining steps are", "remaining task is", "remaining tasks are", "still open", "is still outstanding", "are still outstanding",
	}},
	{cueUpcoming, false, nil, []string{
		"next up", "next is", "next i", "next i'll", "next i'm", "next we", "next we'll", "next comes", "next on", "after that i", "after that i'll", "after that we", "i'll continue", "i will continue",
		"i'll then", "then i'll", "i'll next", "continuing with", "moving on to", "i'll move on",
	}},
	{cueOffers, false, nil, []string{
		"when you want", "when you're ready", "when you are ready", "whenever you", "if you want", "if you like", "if you'd like", "let me know", "ready for", "ready to", "happy to",
		"would you like", "do you want", "shall i", "should i", "want me to", "just say", "just tell me", "i can also", "feel free",
	}},
	{cueBlocked, false, nil, []string{
		"blocked by", "blocked on", "is blocked", "am blocked", "waiting for", "waiting on", "cannot proceed", "can't proceed",
		"cannot continue", "can't continue", "blocker", "stuck on", "no access to", "still fails", "still failing", "still broken",
	}},
	{cueFinding, false, nil, []string{
		"root cause", "the issue", "the problem", "the bug", "turns out", "found", "note that", "note", "caused by", "because",
		"means that", "this means", "listens on", "lives in", "located", "endpoint", "set to", "version", "port", "error code", "the reason",
		"the culprit", "the cause", "responsible for", "depends on", "expects", "requires", "returns", "key insight", "the key",
		"stored in", "defined in", "comes from", "at line", "ticket", "account", "password", "secret", "credential", "confirmed", "is now", "are now", "observed", "measured",
		"fails with", "failed with", "limit of", "deadline", "id is", "number is", "hash", "commit", "branch", "staging", "production",
	}},
	{cueNarrates, true, nil, []string{
		"let me", "i'll", "i will", "i'm going to", "now i", "let's", "i need to", "now let", "next i'll", "first i'll", "i should",
		"i'm now", "looking at", "checking", "now", "good", "great", "perfect", "excellent", "sure", "okay", "ok", "i am going to", "i can",
	}},
}

// glue are words after which a clause may begin with a verb.
var glue = wordSet(`please and but so just also then or to always kindly should must that
	favor y pero e mas também et mais aussi donc und aber bitte denn пожалуйста и а но`)
