package extractive

import (
	"slices"
	"strings"
	"unicode"
)

// An update says in other words that a value is another one now: "the launch moved to June 6", "Mara now owns the pager".
// Of two statements with a label it is enough that both say the same of one value each.

// stated is what a short statement of the user says: its label, the kinds of values in it, and what it is about.
type stated struct {
	label string
	// values are the values by their kind, and about the stems of the other words, each with the one right before it, or "".
	values map[valueKind][]string
	about  map[string]string
	// numbers are those that measure nothing: they are a part of a name.
	numbers []string
	// sentences counts the sentences, and orders says that it is no statement, but orders something, and
	// forbids that it forbids something.
	sentences       int
	orders, forbids bool
}

// statedIn reads a statement.
func statedIn(said string) *stated {
	s := &stated{}
	if units(said) > maxSaid || asks(said) {
		return s
	}
	var body string
	if s.label, body = labelled(said); body == "" {
		return s
	}
	named := s.label != "" && strings.HasPrefix(said, strings.ToUpper(s.label))
	s.orders = !named && (opensTask(said) || requests(said) || opensTask(body))
	var rest []string
	if s.values, rest = valuesByKind(body); len(s.values) == 0 {
		return s
	}
	if !named {
		rest = append(rest, strings.Fields(s.label)...)
	}
	s.readSubject(rest)
	eachStatement(body, never, func(statement) { s.sentences++ })
	return s
}

// state returns what an item states, which is read once.
func (it *item) state(said func(string) string) *stated {
	if it.stated == nil {
		it.stated = statedIn(said(ownWords(it.text)))
	}
	return it.stated
}

// update finds the older statement of the user whose value a message replaces. What only stated the old value goes;
// otherwise both stay, and the older one says where it was changed.
func (l *ledger) update(it *item) {
	now := it.state(l.authors.unsigned)
	if it.changed || len(now.values) == 0 {
		return
	}
	old, shared := l.outdated(it, now)
	if old == nil {
		return
	}
	it.changed, it.changes = true, old.newest()
	was := old.state(l.authors.unsigned)
	if was.sentences == 1 && 2*shared >= len(was.about) {
		l.forget(old)
		l.dropQuote(old.newest(), strings.ReplaceAll(ownWords(old.text), lineBreak, "\n"))
		return
	}
	old.addCorrection(it.newest())
	for _, o := range l.lists[kindRule] {
		if slices.Equal(o.cites, old.cites) {
			o.addCorrection(it.newest())
		}
	}
}

// mostCompared is how many requests an update is compared with, the newest ones.
const mostCompared = 100

// outdated returns the older statement that has another value of the same kind and is about the same thing as a new one,
// and how many words they share. It returns nil if there is none, or if several come into question.
func (l *ledger) outdated(it *item, now *stated) (old *item, shared int) {
	announced := announcesUpdate(l.authors.unsigned(ownWords(it.text)))
	if announced < surely && (now.orders || announced == notAtAll && now.label == "") {
		return nil, 0
	}
	type candidate struct {
		*item
		*stated
	}
	var candidates []candidate
	with := map[string]int{}
	for _, o := range l.heldByUser() {
		if o == it || o.noise || len(o.cites) == 0 || o.newest() >= it.newest() || !isShort(o) {
			continue
		}
		was := o.state(l.authors.unsigned)
		if was.orders && announced < surely || !was.otherValue(now) || was.apartFrom(now) || announced == notAtAll && !was.restatedBy(now) {
			continue
		}
		candidates = append(candidates, candidate{o, was})
		for stem := range was.about {
			with[stem]++
		}
	}
	best, second := 0.0, 0.0
	for _, c := range candidates {
		score, n := 0.0, 0
		for stem := range c.about {
			if _, both := now.about[stem]; both {
				score += 1 / float64(with[stem])
				n++
			}
		}
		switch {
		case score > best:
			best, second, old, shared = score, best, c.item, n
		case score > second:
			second = score
		}
	}
	if best == second || announced == maybe && shared < fewestRestated && 2*shared < len(old.stated.about) {
		return nil, 0
	}
	return old, shared
}

// heldByUser returns the newest requests, and the rules that a previous summary has without their messages.
func (l *ledger) heldByUser() []*item {
	held := slices.Clone(l.requests[max(0, len(l.requests)-mostCompared):])
	for _, rule := range l.lists[kindRule] {
		if rule.carried && rule.by == byUser && len(held) < 2*mostCompared && !slices.ContainsFunc(l.requests, func(o *item) bool { return slices.Equal(o.cites, rule.cites) }) {
			held = append(held, rule)
		}
	}
	return held
}

// otherValue says whether a later statement has one value of the same kind, and another one. Of paths, only one below the
// same folder can be another value.
func (s *stated) otherValue(now *stated) bool {
	for kind, values := range s.values {
		others := now.values[kind]
		if len(values) != 1 || len(others) != 1 || values[0] == others[0] {
			continue
		}
		folder, _, _ := strings.Cut(values[0], "/")
		if kind != pathValue || strings.HasPrefix(others[0], folder+"/") {
			return true
		}
	}
	return false
}

// fewestRestated is how many words two statements share at least that say the same without announcing a change.
const fewestRestated = 2

// restatedBy says whether a later statement under the same label is about the same and nothing else. What forbids
// something adds to what another one forbids.
func (s *stated) restatedBy(now *stated) bool {
	if s.label == "" || s.label != now.label || s.sentences != 1 || now.sentences != 1 || len(s.values) != 1 || len(now.values) != 1 || s.forbids || now.forbids {
		return false
	}
	shared := 0
	for stem := range s.about {
		if _, both := now.about[stem]; both {
			shared++
		}
	}
	least := fewestRestated
	if isVague(s.label) {
		least = vagueWords
	}
	return shared >= least && shared == min(len(s.about), len(now.about))
}

// apartFrom says whether a statement is about another thing of the same name: "the north quay" and "the south quay".
func (s *stated) apartFrom(now *stated) bool {
	if len(s.numbers) > 0 && len(now.numbers) > 0 && !slices.Equal(s.numbers, now.numbers) {
		return true
	}
	for stem, before := range s.about {
		instead, both := now.about[stem]
		_, also := now.about[before]
		_, was := s.about[instead]
		if both && before != "" && instead != "" && !also && !was {
			return true
		}
	}
	return false
}

// readSubject reads what some words are about: those that mean something.
func (s *stated) readSubject(words []string) {
	s.about = map[string]string{}
	before := ""
	for _, field := range words {
		for word := range strings.FieldsFuncSeq(strings.ToLower(field), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
			switch {
			case isDigits(word):
				s.numbers, before = append(s.numbers, word), ""
			case prohibitions[word]:
				s.forbids, before = true, ""
			case len(word) < 3, commonWords[word], changeWords[word], aboutChanges[word], functionWords[word] != nil:
				before = ""
			default:
				about := stem(word)
				if known, again := s.about[about]; !again || known == "" {
					s.about[about] = before
				}
				before = about
			}
		}
	}
}

// prohibitions are words that forbid something.
var prohibitions = wordSet("never not no none don't doesn't mustn't can't cannot without nor nie nicht kein keine nunca jamais não никогда не")

// aboutChanges are words that say that something changed, and not what.
var aboutChanges = wordSet(`update updated updates changed change changes moved move switched rotated renamed replaced quick from now instead new newly old previous current currently
	again call called calling user user's`)

// stem returns a word without the endings that forms of one word differ in, and without "re" at its beginning.
func stem(word string) string {
	if !isASCII(word) {
		return word
	}
	if rest, ok := strings.CutPrefix(word, "re"); ok && len(rest) > 4 {
		word = rest
	}
	for _, ending := range []string{"ally", "ing", "ers", "ed", "er", "ly", "al", "es", "s", "e"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return word
}

// certainty says how surely a message announces that something changed.
type certainty uint8

const (
	notAtAll certainty = iota
	maybe
	surely
)

// announcesUpdate says whether a message announces that something is another way now.
func announcesUpdate(said string) certainty {
	text := " " + strings.ToLower(clip(said, longestContent)) + " "
	has := func(words string) bool { return strings.Contains(text, words) }
	if slices.ContainsFunc(announcements, has) {
		return surely
	}
	found := notAtAll
	words := strings.Fields(text)
	for i, word := range words {
		word = strings.Trim(word, ",.;:!()")
		switch {
		case word == "now" && i > 0 && (isLinkingVerb(words[i-1]) || i+1 < len(words) && strings.HasSuffix(words[i+1], "s")):
			// "is now", "now owns"
			return surely
		case hints[word]:
			found = maybe
		}
	}
	return found
}

func isLinkingVerb(word string) bool {
	return word == "is" || word == "are" || word == "will" || word == "we"
}

// announcements are phrases that announce a change, with the spaces around them, and hints are words that do so in a
// statement.
var (
	announcements = []string{
		" update: ", " update, ", " correction: ", " change: ", " from now on", " as of now", " as of today", " effective immediately", " going forward", " no longer ", " has changed", " have changed", " moved to ",
		" changed to ", " switched to ", " replaced by ", " renamed to ", " rebased onto ", " rotated", " ab jetzt", " ab sofort", " ab heute", " nicht mehr ", " geändert", " verschoben", " umbenannt", " a partir de ahora", " ya no ",
		" ha cambiado", " désormais ", " à partir de maintenant", " ne plus ", " a changé", " a partir de agora", " mudou ", " не больше ", " теперь ", " отныне ", " изменил", "从现在起", "从现在开始", "改为", "改成", "不再",
		"今後は", "これからは", "変更", "に変わ", "이제부터", "앞으로는", "변경", "바뀌",
	}
	hints = wordSet("now new instead anymore switched moved changed replaced rebased renamed rescheduled postponed jetzt nun neu neue neuer neues ahora nuevo nueva maintenant nouveau nouvelle agora novo nova новый новая новое сейчас")
)
