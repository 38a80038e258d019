package extractive

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A correction replaces a part of what was said before: "wait, the 10th, not the 12th", "actually use EUR". The rest of
// the older statement still holds, so both stay, and each says that it changed.

// correct looks for what a short message of the user corrects. It marks the message and the statements that it corrects:
// of the user the latest one, and what the agent said about the same.
func (l *ledger) correct(it *item) {
	said := l.authors.unsigned(ownWords(it.text))
	c := correctionIn(said)
	if len(c.rejected) == 0 && !c.announced {
		return
	}
	index := it.newest()
	older := func(o *item) bool { return o != it && len(o.cites) > 0 && o.newest() < index }
	var latest *item
	for _, o := range slices.Backward(l.requests) {
		if older(o) && !o.noise && c.of(o.read()) {
			latest = o
			break
		}
	}
	if latest != nil {
		latest.addCorrection(index)
		if !it.changed {
			it.changed, it.changes = true, latest.newest()
		}
	}
	for _, k := range []kind{kindRule, kindDecision, kindFact} {
		for _, o := range l.lists[k] {
			fromUser := latest != nil && slices.Equal(o.cites, latest.cites)
			if older(o) && (fromUser && c.of(o.read()) || k != kindRule && c.rejects(o.read()) && c.shared(o.read()) > 0) {
				o.addCorrection(index)
			}
		}
	}
}

func (it *item) addCorrection(index uint32) {
	if !slices.Contains(it.corrections, index) {
		it.corrections = append(it.corrections, index)
	}
}

// content is what corrections look at in a statement.
type content struct {
	values []value
	words  map[string]bool
}

// longestContent is how many bytes of a statement are looked at.
const longestContent = 4096

// read returns the content of an item, which is read once.
func (it *item) read() *content {
	if it.content == nil {
		text := clip(ownWords(it.text), longestContent)
		it.content = &content{valuesIn(text), subjectWords(text)}
	}
	return it.content
}

// correction is what a message says anew.
type correction struct {
	// rejected are the values that no longer hold, and values those that do.
	rejected, values []value
	words            map[string]bool
	// announced says that the message says that it corrects something.
	announced bool
}

// correctionIn reads a message. A correction puts a value in the place of another one, or begins with a word such as
// "actually" and has a value of the same measure as the older statement, or most of its words.
func correctionIn(said string) (c correction) {
	if said, c.announced = correcting(said); said == "" {
		return c
	}
	named := false
	for _, v := range valuesIn(said) {
		switch {
		case v.measure == aName && !c.announced:
			// "Ändere die Doku, nicht den Code."
		case v.rejected:
			c.rejected = append(c.rejected, v)
		case v.measure == aName:
			named = true
		default:
			c.values = append(c.values, v)
		}
	}
	if len(c.values) == 0 && !named {
		c.rejected = nil
	}
	c.words = subjectWords(said)
	return c
}

// longestCorrection is how many units a message has at most that is read for a correction.
const longestCorrection = 1200

// correcting returns the part of a message that may correct something: a short message, and of a longer one the sentence
// that announces it and the next one. announced says that there is one.
func correcting(said string) (part string, announced bool) {
	if units(said) > longestCorrection || asks(said) {
		return "", false
	}
	left := 0
	eachStatement(strings.ReplaceAll(said, lineBreak, "\n"), never, func(st statement) {
		if announcesCorrection(st.text) {
			left, announced = 2, true
		}
		if left > 0 {
			part += st.text + " "
			left--
		}
	})
	if units(said) <= maxSaid {
		return said, announced
	}
	return part, announced
}

// of says whether an older statement of the user is what the correction is about.
func (c *correction) of(old *content) bool {
	if len(c.rejected) > 0 {
		return c.rejects(old) && (c.announced || c.surely(old))
	}
	if !c.announced {
		return false
	}
	if slices.ContainsFunc(old.values, c.replaces) {
		return true
	}
	shared := c.shared(old)
	return len(c.values) == 0 && shared >= fewestShared && 2*shared >= len(c.words)
}

// replaces says whether the correction has another value of the same measure, and not the same one again.
func (c *correction) replaces(old value) bool {
	another := false
	for _, now := range c.values {
		if old.measure == now.measure {
			if old.text == now.text {
				return false
			}
			another = old.measure != ""
		}
	}
	return another
}

// fewestShared is how many words a correction without values shares at least with what it corrects.
const fewestShared = 2

// shared counts the words that a statement shares with the correction.
func (c *correction) shared(old *content) (shared int) {
	for word := range old.words {
		if c.words[word] {
			shared++
		}
	}
	return shared
}

// rejects says whether a statement has a value that no longer holds.
func (c *correction) rejects(old *content) bool {
	return slices.ContainsFunc(old.values, func(old value) bool {
		return slices.ContainsFunc(c.rejected, func(gone value) bool { return old.same(gone) })
	})
}

// surely says whether a statement with a rejected value is about the same thing: it shares a word with the correction, or
// the value is more than a plain number.
func (c *correction) surely(old *content) bool {
	return c.shared(old) > 0 || slices.ContainsFunc(c.rejected, func(v value) bool { return len(v.text) > 3 })
}

// takingBack are the openings of sentences that correct something. After a comma, the sentence pauses: "Wait 10 minutes"
// takes nothing back. What ends in a space is a word before others.
var takingBack = []string{
	"wait,", "actually", "sorry", "correction", "i meant", "oops", "my mistake", "my bad", "scratch that", "on second thought", "change of plan", "change of plans", "second change", "i misspoke", "i was wrong",
	"moment,", "warte,", "korrektur", "doch ", "eigentlich", "entschuldigung", "ich meinte", "verzeihung", "stopp", "ich habe mich", "ich hab mich", "tut mir leid",
	"perdona", "perdón", "espera,", "en realidad", "me equivoqué", "mejor ", "quise decir", "corrección", "disculpa", "rectifico",
	"pardon", "attends,", "attendez,", "en fait", "finalement", "plutôt ", "je voulais dire", "désolé", "excuse", "correction", "je me suis tromp",
	"desculp", "espere,", "na verdade", "aliás", "me enganei", "quis dizer", "correção", "melhor ", "afinal",
	"извини", "прости", "подожди,", "на самом деле", "точнее", "поправка", "я ошиб", "вернее", "лучше ",
	"不对", "更正", "等等", "等一下", "其实", "应该是", "抱歉", "说错", "我记错", "改成", "すみません", "訂正", "やっぱり", "やはり", "実は", "間違え", "ごめん", "待って",
	"아니", "정정", "사실", "잠깐", "죄송", "미안", "실수",
}

// announcesCorrection says whether one of the first clauses of a sentence begins with a word that takes something back.
func announcesCorrection(sentence string) bool {
	rest := strings.ToLower(clip(sentence, 96))
	for range 3 {
		for opening := true; opening; {
			rest = strings.TrimLeft(rest, "¡!¿*_-–— ")
			word, after, _ := strings.Cut(rest, " ")
			if opening = interjections[strings.Trim(word, ",.!")]; opening {
				rest = after
			}
		}
		if takesBack(rest) {
			return true
		}
		_, after, more := strings.Cut(rest, ", ")
		if !more {
			return false
		}
		rest = after
	}
	return false
}

// interjections may stand before a word that takes something back.
var interjections = wordSet("oh ah hm hmm ach ay ok okay no nein non não нет nee hi hey stop short small eine kurze one")

// takesBack says whether a text in lower case begins with a word that takes something back.
func takesBack(text string) bool {
	return slices.ContainsFunc(takingBack, func(o string) bool {
		o, pauses := strings.CutSuffix(o, ",")
		rest, ok := strings.CutPrefix(text, o)
		if !ok {
			return false
		}
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
		first, _ := utf8.DecodeRuneInString(rest)
		return !isASCII(o) && isCJK(first) || o[len(o)-1] == ' ' || !unicode.IsLetter(first) && (!pauses || rest == "" || unicode.IsPunct(next))
	})
}
