package extractive

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// maxSaid is how many units a short message of the user has at most. It stays word for word.
const maxSaid = 300

// isShort says whether a request is a short message of the user.
func isShort(it *item) bool { return units(it.text) <= maxSaid }

// maxFresh is how many of the newest messages of the user come before all older ones.
const maxFresh = 5

// saidLength lets a long statement pay a little less than in proportion to its length, and maxContent is how many words
// count.
const (
	withValue     = 1.3
	withTask      = 0.6
	withReply     = 0.4
	withChange    = 2.5
	whenCorrected = 0.3
	saidLength    = 0.8
	maxContent    = 10
)

// saidRank ranks short messages of the user: what was said once before what is said again and again, a statement with a
// value before others, a task after statements, which may still hold, and a reply last. Newer ones count double, and those
// that change what was said before somewhat more.
func (p *plan) saidRank(it *item) int {
	rank := 1e5 * float64(min(contentUpTo(it.text, maxContent), maxContent)) / float64(1+it.times)
	if hasValue(it.text) {
		rank *= withValue
	}
	switch {
	case p.cues.substanceOf(it.text) < task:
		rank *= withReply
	case opensTask(it.text) || requests(it.text):
		rank *= withTask
	}
	switch {
	case len(it.corrections) > 0:
		rank *= whenCorrected
	case it.changed:
		rank *= withChange
	}
	if it.newest()+recently >= p.l.newest {
		rank *= 2
	}
	return int(rank / math.Pow(float64(units(it.text)+lineOverhead), saidLength))
}

// isStatement says whether a message is a statement with a label in capitals, such as `KEY: value`, and no order or
// question. Scripts without capitals count as such.
func isStatement(text string) bool {
	label, _ := labelled(text)
	return label != "" && strings.HasPrefix(text, strings.ToUpper(label)) && !opensTask(text) && !requests(text) && !asks(text)
}

// freshRank is the rank of a message of the user among the newest ones, or of the first one. It is 0 for others: what is
// left out is in the middle. Who writes labels wants them to be remembered, so such statements come before all.
func (p *plan) freshRank(it *item) int {
	if len(it.corrections) == 0 && isShort(it) && isStatement(p.l.authors.unsigned(ownWords(it.text))) {
		return firstRank*(maxFresh+2) + (maxSaid-units(it.text))/lengthStep*(firstRank/64) + min(int(it.newest()), firstRank/64)
	}
	if p.fresh == nil {
		p.fresh = p.freshMessages()
	}
	return p.fresh[it]
}

// freshMessages returns the ranks of the newest messages of the user, the newest first, and of the first one.
func (p *plan) freshMessages() map[*item]int {
	var list []*item
	for _, c := range []class{classSaid, classTold} {
		list = append(list, p.byClass[c]...)
	}
	slices.SortFunc(list, func(a, b *item) int { return cmp.Or(cmp.Compare(b.newest(), a.newest()), cmp.Compare(b.seq, a.seq)) })
	if len(list) > maxFresh {
		list = list[:maxFresh]
	}
	ranks := map[*item]int{}
	for i, it := range list {
		ranks[it] = firstRank * (maxFresh + 1 - i)
	}
	if ranks[p.firstRequest] == 0 {
		ranks[p.firstRequest] = firstRank
	}
	return ranks
}

// firstRank is the rank of the user's first message, which is above those that came between it and the newest.
const firstRank = 1 << 24

// recently is how many messages count as the newest ones, and lineOverhead what a line has beside its text, in units.
const (
	recently     = 40
	lineOverhead = 10
)

// dropUnfinished removes the last request if this one begins with it: the user interrupted the agent and wrote it again,
// with more.
func (l *ledger) dropUnfinished(it *item) {
	at := len(l.requests) - 1
	if at < 0 || len(it.cites) == 0 {
		return
	}
	before := l.requests[at]
	said := ownWords(before.text)
	if before.goal || len(before.cites) == 0 || before.newest() >= it.newest() || len(said) >= len(it.text) ||
		!strings.HasPrefix(it.text, strings.TrimRight(said, ".!?…。 ")) || contentUpTo(said, goalWords) < goalWords {
		return
	}
	it.carried = before.carried
	l.requests = l.requests[:at]
}

// linesWithin returns the lines of a message that stand in what the agent wrote before it.
func linesWithin(message, before string) map[string]bool {
	if before == "" {
		return nil
	}
	written := map[string]bool{}
	for line := range strings.SplitSeq(oneLine(before), lineBreak) {
		written[line] = units(line) >= leastEcho
	}
	echoed := map[string]bool{}
	for line := range strings.SplitSeq(message, lineBreak) {
		if written[line] {
			echoed[line] = true
		}
	}
	return echoed
}

// leastEcho is how many units a line has at least that nobody writes twice by chance.
const leastEcho = 24

// apartStated splits the statements off the short messages of the user: what was said once, and orders and asks nothing.
// In a language without cues, it may be a rule.
func (p *plan) apartStated(list []*item) (stated, others []*item) {
	for _, it := range list {
		states, known := p.stated[it]
		if !known {
			states = p.states(it)
			p.stated[it] = states
		}
		if states {
			stated = append(stated, it)
		} else {
			others = append(others, it)
		}
	}
	return stated, others
}

// states says whether a short message of the user only states something that no rule of it says.
func (p *plan) states(it *item) bool {
	said := ownWords(it.text)
	return it.times == 0 && !p.inWhole[it] && p.cues.substanceOf(it.text) == task && !p.cues.ordersIn(said) && !asks(said)
}
