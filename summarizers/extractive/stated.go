package extractive

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// stated is what the user says of something: a short message, or a line with a label of any message.
type stated struct {
	it *item
	// line is the statement where it is a line of several.
	line string
	// label is what stands before the colon, and keyed says that a later statement under it can replace this one.
	label string
	keyed bool
	// words are the words after the label, in lower case and without values, and subjects the identifiers. valued counts
	// the values.
	words, subjects []string
	valued          int
	// forbids says that it forbids something, and orders that it is no statement, but orders something.
	forbids, orders bool

	// What follows is read of whole messages only. values are the values by their kind, and about the stems of the other
	// words, each with the one right before it, or "".
	values map[valueKind][]string
	about  map[string]string
	// numbers are those that measure nothing: they are a part of a name.
	numbers []string
	// sentences counts the sentences.
	sentences int
}

// maxKeyedLines is how many lines of a message are read as statements.
const maxKeyedLines = 64

// statements returns what a message states: as a whole if it is short, and by its lines with labels.
func (l *ledger) statements(it *item) []*stated {
	var all []*stated
	said := l.authors.unsigned(ownWords(it.text))
	if isShort(it) {
		if s := statedIn(said); s.keyed || len(s.values) > 0 {
			all = append(all, s)
		}
	}
	for line := range statedLines(said) {
		s := &stated{line: line}
		if s.readForm(line); s.keyed {
			all = append(all, s)
		}
	}
	for _, s := range all {
		s.it = it
	}
	return all
}

// statedLines returns the lines of a text of several, without the marks of lists.
func statedLines(said string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !strings.Contains(said, lineBreak) {
			return
		}
		read := 0
		for line := range strings.SplitSeq(said, lineBreak) {
			body, _ := listItem(strings.TrimSpace(line))
			if read++; read > maxKeyedLines || !yield(strings.ReplaceAll(body, "**", "")) {
				return
			}
		}
	}
}

// statedIn reads a short message.
func statedIn(said string) *stated {
	s := &stated{}
	words := s.readForm(said)
	if len(words) == 0 || asks(said) {
		return s
	}
	_, body := labelled(said)
	named := s.label != "" && strings.HasPrefix(said, strings.ToUpper(s.label))
	s.orders = !named && (opensTask(said) || requests(said) || opensTask(body))
	var rest []string
	if s.values, rest = valuesByKind(words); len(s.values) == 0 {
		return s
	}
	if !named {
		rest = append(rest, strings.Fields(s.label)...)
	}
	s.readSubject(rest)
	eachStatement(body, never, func(statement) { s.sentences++ })
	return s
}

// readForm reads the label of a statement, and the words after it, which it also returns.
func (s *stated) readForm(said string) []signedWord {
	var body string
	s.label, body = labelled(said)
	s.keyed = s.label != "" && !opensTask(said) && !requests(said) && !asks(said)
	if !s.keyed && s.line != "" {
		return nil
	}
	words, vague, forbidden := valueWords(strings.ReplaceAll(body, "’", "'")), isVague(s.label), false
	for _, w := range words {
		word, lower := w.core, strings.ToLower(w.core)
		forbidden = forbidden || prohibitions[lower]
		s.forbids = s.forbids || forbidden
		switch {
		// The file that must not be touched is what a prohibition is about. Under a vague label so is a number, and a path in any
		// statement.
		case isSubject(word), isValue(word) && (forbidden && (vague || strings.ContainsFunc(word, unicode.IsLetter)) || vague && strings.Contains(word, "/")):
			s.subjects = append(s.subjects, word)
		case changeWords[lower]:
		case isValue(word):
			s.valued++
		default:
			s.words = append(s.words, lower)
		}
		forbidden = forbidden && !w.closes
	}
	return words
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
			case len(word) < 3, prohibitions[word], commonWords[word], changeWords[word], aboutChanges[word], functionWords[word] != nil:
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

// key returns the statement in a form that compares.
func (s *stated) key() string {
	if s.line != "" {
		return keyOf(s.line)
	}
	return s.it.keyed()
}

// sameThing says whether a later statement is about the same thing: it has the same label and names the same
// identifiers, and its other words are the same, apart from a few that only say that something changed. A value alone
// replaces another one. Prohibitions under a vague label add up. In doubt both statements stay.
func (s *stated) sameThing(now *stated) bool {
	switch {
	case !s.keyed || !now.keyed || s.label != now.label || !slices.Equal(s.subjects, now.subjects):
		return false
	case s.valued > 0 && now.valued > 0:
		return slices.Equal(s.words, now.words) && (!isVague(s.label) || len(s.words) >= vagueWords)
	default:
		return len(s.words) == 1 && len(now.words) == 1 && s.valued+now.valued+len(s.subjects) == 0 && !isVague(s.label)
	}
}

// vagueWords is how many words two statements under a vague label have in common if they are about the same thing.
const vagueWords = 3

// vague are labels under which people write about many things, or that no value belongs to.
var vague = wordSet(`note notes todo fixme bug bugs rule rules constraint constraints question error errors warning story task tasks step decision idea
	example fix feature issue update info important reminder hint ps btw edit review request requests allowed allow done also and but or so then please this
	that here yes no ok`)

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

// changeWords are words that may be in only one of two statements about the same thing.
var changeWords = wordSet("now instead again still already currently actually only just at is are was set to changed moved new")

// prohibitions are words that forbid something.
var prohibitions = wordSet("never not no none don't dont doesn't mustn't can't cannot without nor nie niemals nicht kein keine nunca jamais pas não mai non никогда не")

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

// isValue says whether a word can change while the statement stays the same: a number, a date, an amount, a path, an
// address.
func isValue(word string) bool {
	return strings.ContainsAny(word, "0123456789/@$€£¥") && !isSubject(word)
}

// isSubject says whether a word is an identifier, which is what a statement is about.
func isSubject(word string) bool {
	return !strings.Contains(word, "/") && strings.Contains(strings.Trim(word, "_"), "_")
}

// isVague says whether a label says little about its statement: one of its words is vague, or it ends in a digit.
func isVague(label string) bool {
	if label == "" {
		return false
	}
	if last := label[len(label)-1]; last >= '0' && last <= '9' {
		return true
	}
	return slices.ContainsFunc(strings.Fields(label), func(w string) bool { return vague[w] })
}
