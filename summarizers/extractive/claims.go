package extractive

import (
	"cmp"
	"slices"
	"strings"
)

// claim is a fact that the agent states, before it is known whether it stands.
type claim struct {
	*item
	// names are the identifiers in it.
	names []string
	// at is the statement that it comes from, and paragraph the paragraph.
	at, paragraph int
	// doubted says that the agent turned against it in a later paragraph.
	doubted bool
}

// turn says whether a sentence turns against what was said before it.
type turn uint8

const (
	agreesWith turn = iota
	// contrasts is a "but", which in an answer only adds something. contradicts takes back what was said.
	contrasts
	contradicts
)

// The words that a sentence begins with which turns against the ones before it, in lower case.
var (
	contrasting    = inAnyCase("but ", "but, ", "however ", "however, ", "yet ", "aber ", "pero ", "mais ", "mas ", "но ", "однако", "但是", "但", "不过", "しかし", "でも", "하지만", "그런데")
	contradictions = inAnyCase(
		"wait", "actually", "no, ", "no.", "no! ", "nope", "hmm", "oh, ", "oh! ", "oops", "never mind", "nevermind", "scratch that", "on second thought", "not quite",
		"that's not", "that’s not", "that is not", "that isn't", "that doesn't", "that can't", "that cannot", "that's wrong", "that is wrong", "that was wrong", "this is wrong",
		"this isn't", "this is not right", "this is not the", "this doesn't", "this can't", "it's not that", "i was wrong", "i was mistaken", "my mistake", "correction",
		"moment,", "nein", "eigentlich", "das ist nicht", "das stimmt nicht", "espera", "en realidad", "eso no", "attends", "en fait", "ce n'est pas", "na verdade", "isso não", "нет, ",
		"подожди", "погоди", "на самом деле", "это не", "等等", "其实", "不对", "不，", "等一下", "いや", "違う", "実は", "待って", "아니", "잠깐", "사실",
	)
	// concluding are words before those.
	concluding = []string{"so ", "and ", "but ", "ok, ", "okay, ", "but wait", "oh wait"}
)

// turnOf says how a sentence of the agent turns against the ones before it.
func turnOf(text string) turn {
	text = strings.TrimLeft(text, "*_ ")
	if contradictions.opens(text) {
		return contradicts
	}
	contrast := contrasting.opens(text)
	for _, word := range concluding {
		if hasPrefixAnyCase(text, word) {
			if text = strings.TrimLeft(text[len(word):], " ,"); contradictions.opens(text) || strings.HasSuffix(word, "wait") {
				return contradicts
			}
			break
		}
	}
	if contrast {
		return contrasts
	}
	return agreesWith
}

// supposing are the words that a hypothesis begins with, in lower case.
var supposing = inAnyCase("if ", "unless", "assuming ", "suppose ", "let's say ", "what if ", "look at ", "wenn ", "falls ", "si ", "se ", "если ", "如果", "假如", "假设", "もし", "만약")

// supposes says whether a sentence only follows a thought.
func supposes(text string) bool {
	return supposing.opens(text)
}

// doubt removes the claims that a later sentence of the same paragraph turns against. Who thinks aloud also doubts what
// came before; an answer was thought over.
func (p *proseReader) doubt(st statement) {
	if len(p.claims) == 0 {
		return
	}
	thinks := p.final == 0
	last := p.claims[len(p.claims)-1]
	switch {
	case p.turned == contradicts:
		p.claims = slices.DeleteFunc(p.claims, func(c claim) bool { return c.paragraph == p.paragraph })
		for i := range p.claims {
			p.claims[i].doubted = thinks
		}
	case thinks && (p.turned == contrasts || asks(st.text)) && last.at+1 == p.at && last.paragraph == p.paragraph:
		p.claims = p.claims[:len(p.claims)-1]
	}
}

// mostClaims is how many claims count of a message in which the agent thinks aloud: the last ones.
const mostClaims = 2

// mostReported is how many claims count of what another agent reports.
const mostReported = 4

// reactionScore is added to the score of a claim with which a message reacts to a result.
const reactionScore = 2

// doubtScore is taken off the score of a claim in doubt.
const doubtScore = 5

// reacts says whether a statement begins a message and says what came out before it: it comes after a result, or concludes.
func (p *proseReader) reacts(at int) bool {
	return at == 1 && !p.byOther && (p.reacting || p.concludes)
}

// withoutSo removes the "so" from a conclusion that can be understood alone.
func withoutSo(text string) string {
	rest, ok := strings.CutPrefix(text, "So ")
	if rest = strings.TrimPrefix(rest, ", "); !ok || leans(rest) {
		return text
	}
	if word := firstWord(rest); strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
		rest = strings.ToUpper(rest[:1]) + rest[1:]
	}
	return rest
}

// settleClaims adds the claims of a text that stand.
func (p *proseReader) settleClaims() {
	var list []claim
	for i, c := range p.claims {
		if p.final > 0 || i >= len(p.claims)-mostClaims || p.reacts(c.at) {
			list = append(list, c)
		}
	}
	p.claims = nil
	if p.byOther && len(list) > mostReported {
		slices.SortStableFunc(list, func(a, b claim) int { return cmp.Compare(b.score, a.score) })
		list = list[:mostReported]
	}
	for _, c := range list {
		if p.byOther {
			c.hears("", c.text, "")
		}
		if c.doubted {
			c.score -= doubtScore
		} else if p.reacts(c.at) {
			c.score += reactionScore
		}
		p.l.claim(c)
	}
	if p.final == 0 {
		p.claimed = list
	}
}

// The claims that share an identifier and are compared with a new one, and the words in which they may be the same.
const (
	maxSharing = 6
	fewestSame = 4
)

// claim adds a claim, in the place of an older one in other words. A claim in doubt replaces none.
func (l *ledger) claim(c claim) {
	for _, name := range c.names {
		for _, old := range l.claims[name] {
			if old.keyed() != c.keyed() && old.sameAs(&c) {
				if c.doubted {
					return
				}
				c.score = max(c.score, old.score)
				l.dropItems(kindFact, func(it *item) bool { return it == old.item })
			}
		}
	}
	l.rethink(&c)
	l.add(c.item)
	for _, name := range c.names {
		if len(l.claims) < maxFiles {
			list := append(l.claims[name], c)
			l.claims[name] = list[max(0, len(list)-maxSharing):]
		}
	}
}

// diagnosing are words for what is wrong, and diagnosed those with which a sentence names it, in lower case.
var (
	diagnosing = []string{"problem", "issue", "cause", "root cause", "bug", "reason", "culprit", "error", "failure", "fault"}
	diagnosed  = inAnyCase(
		"das problem ist, dass", "das problem liegt", "die ursache ist, dass", "die ursache liegt", "der fehler ist, dass", "der fehler liegt", "der grund ist, dass",
		"el problema es que", "el problema está en", "la causa es que", "la causa está en", "el error es que", "el error está en",
		"le problème est qu", "le problème vient d", "la cause est qu", "la cause vient d", "le bug est qu", "le bug vient d", "l'erreur est qu", "l'erreur vient d",
		"o problema é que", "o problema está em", "o problema está n", "a causa é que", "a causa está em", "a causa está n", "o erro é que", "o erro está em",
		"проблема в том, что", "причина в том, что", "ошибка в том, что", "问题是", "问题在于", "问题出在", "原因是", "原因在于", "根本原因",
		"問題は", "原因は", "バグは", "문제는", "원인은", "버그는",
	)
	// noDiagnosis are words with which such a sentence only tells where nothing is wrong, or that it has ended.
	noDiagnosis = inAnyCase(
		" is not ", "isn't", " also ", " is fixed", " is gone", "liegt nicht", " auch ", "behoben", "también", "aussi", "também", "также", "тоже", "исправлен",
		"不是", "不在", "并非", "也", "已修复", "解决", "ではな", "じゃな", "にな", "修正済", "아니", "해결",
	)
)

// diagnoses says whether a sentence says what the one thing is that is wrong: "The root cause is that ..."
func diagnoses(text string) bool {
	text = strings.TrimLeft(text, "*_ ")
	if !isASCII(text) {
		text = plainApostrophes(strings.ToLower(text))
	}
	for _, opening := range []string{"so ", "ok, ", "okay, ", "now ", "based on my analysis, ", "i think ", "i believe ", "i suspect "} {
		if hasPrefixAnyCase(text, opening) {
			text = text[len(opening):]
		}
	}
	if noDiagnosis.in(text) {
		return false
	}
	if diagnosed.opens(text) {
		return true
	}
	rest, ok := cutOpening(text, "the ")
	if !ok {
		return false
	}
	for _, how := range []string{"real ", "actual ", "main ", "underlying ", "true "} {
		rest, _ = cutOpening(rest, how)
	}
	return slices.ContainsFunc(diagnosing, func(what string) bool {
		after, ok := cutOpening(rest, what)
		return ok && hasOpening(after, " is that ", " was that ", " here is that ", " is in ", " was in ", " lies ", " is caused by ", " was caused by ")
	})
}

// olderTheory is taken off the score of what the agent thought before to be wrong with the same thing.
const olderTheory = 4

// rethink ranks lower what the agent thought before to be wrong with one of the same things. It stays where there is room, since a
// newer theory need not be truer. What it told in an answer was thought over.
func (l *ledger) rethink(c *claim) {
	if c.answers || c.doubted || !diagnoses(c.text) {
		return
	}
	for _, name := range c.names {
		for _, old := range l.claims[name] {
			if !old.answers && !old.rethought && old.newest() < c.newest() && diagnoses(old.text) {
				old.score -= olderTheory
				old.rethought = true
			}
		}
	}
}

// sameAs says whether two claims share most of their words, and neither has identifiers of its own beside the other's.
func (c *claim) sameAs(other *claim) bool {
	fewer, more := c.names, other.names
	if len(fewer) > len(more) {
		fewer, more = more, fewer
	}
	if slices.ContainsFunc(fewer, func(name string) bool { return !slices.Contains(more, name) }) {
		return false
	}
	for _, it := range []*item{c.item, other.item} {
		if it.subject == nil {
			it.subject = subjectWords(it.text)
		}
	}
	few, many := c.subject, other.subject
	if len(few) > len(many) {
		few, many = many, few
	}
	shared := 0
	for word := range few {
		if many[word] {
			shared++
		}
	}
	return len(few) >= fewestSame && shared*3 >= len(few)*2
}

// reconsider removes claims of the agent's last message that its next one turns against.
func (r *reader) reconsider(text string) {
	claimed := r.claimed
	r.claimed = nil
	if len(claimed) == 0 {
		return
	}
	switch turnOf(text) {
	case contradicts, contrasts:
		r.l.dropClaims(claimed[len(claimed)-1:])
	default:
	}
}

// absences are what errors say of something that is not there, in lower case.
var absences = []string{
	"cannot import", "no module named", "not found", "has no attribute", "no such", "undefined", "does not exist", "doesn't exist", "is not defined", "cannot find",
	"could not find", "unknown", "no field", "has no member", "不存在", "未找到",
}

// refute removes claims of the agent's last message about something that is not there, as an error says.
func (r *reader) refute(errors string) {
	if len(r.claimed) == 0 || !slices.ContainsFunc(absences, func(w string) bool { return containsAnyCase(errors, w) }) {
		return
	}
	r.l.dropClaims(slices.DeleteFunc(slices.Clone(r.claimed), func(c claim) bool {
		return !slices.ContainsFunc(c.names, func(name string) bool {
			return len(name) > 3 && !looksLikeFile(name) && strings.Contains(errors, strings.Trim(name, "()"))
		})
	}))
}

func (l *ledger) dropClaims(claims []claim) {
	l.dropItems(kindFact, func(it *item) bool { return slices.ContainsFunc(claims, func(c claim) bool { return c.item == it }) })
}

// answer is a long answer of the agent, with the identifiers in it.
type answer struct {
	at    uint32
	names []string
}

const (
	// answerLength is how many bytes an answer has at least that can replace older ones.
	answerLength = 400
	// answerNames is how many identifiers of an answer are compared, and sharedNames how many a newer one shares at least
	// that is about the same.
	answerNames, sharedNames = 64, 2
	// olderAnswer is taken off the score of what an answer says if a newer one is about the same.
	olderAnswer = 4
)

// answers notes which identifiers a long answer has.
func (l *ledger) answers(index uint32, text string) {
	a := answer{at: index}
	eachIdentifier(text, func(word string, _ identifier) {
		if len(a.names) < answerNames && len(l.answered) < maxFiles {
			// A name that is kept must not hold the whole answer in memory.
			word = strings.Clone(word)
			l.answered[word] = index
			a.names = append(a.names, word)
		}
	})
	l.given = append(l.given, a)
}

// settleAnswers ranks what answers say about the same things by their age.
func (r *reader) settleAnswers() {
	older := map[uint32]bool{}
	for _, a := range r.l.given {
		shared := map[string]bool{}
		for _, name := range a.names {
			if r.l.answered[name] > a.at {
				shared[name] = true
			}
		}
		older[a.at] = len(shared) >= sharedNames
	}
	for _, it := range r.l.lists[kindFact] {
		if it.answers && older[it.newest()] {
			it.score -= olderAnswer
		}
	}
}

// tells says whether a statement says something that can be understood: with a name and words beside it, with a number, or
// in a few words.
func tells(text string) bool {
	beside := withoutNames(text)
	return contentUpTo(beside, 3) >= 3 || len(beside) < len(text) && contentUpTo(beside, 2) >= 2 || hasDigit(beside)
}

// withoutNames returns a text without its identifiers.
func withoutNames(text string) string {
	eachIdentifier(text, func(word string, _ identifier) {
		text = strings.Replace(text, word, "", 1)
	})
	return strings.ReplaceAll(text, "`", "")
}
