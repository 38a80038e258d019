package extractive

import (
	"slices"
	"strings"
)

// What the user says of something holds until they say otherwise: in the same form with another value ("BUDGET: 4,000 EUR",
// "BUDGET: 6,500 EUR"), or in other words ("the launch moved to June 6", "Mara now owns the pager"). Of two statements
// about different things both hold, and in doubt both stay.

// maxStated is how many statements are compared with later ones, the newest.
const maxStated = 400

// hold lets later statements replace those of a message.
func (l *ledger) hold(it *item, said []*stated) {
	for _, s := range said {
		s.it = it
		l.stated = append(l.stated, s)
	}
	if more := len(l.stated) - maxStated; more > 0 {
		l.stated = slices.Delete(l.stated, 0, more)
	}
}

// replaceOlder looks for what the statements of a new message replace, and notes in the message that it changed. Of two whole
// messages the older one goes. What else an older message says still holds, so that one stays, and says where it is
// corrected.
func (l *ledger) replaceOlder(it *item, said []*stated) {
	for _, now := range said {
		old := l.takeSame(now)
		if old != nil && old.key() != now.key() {
			l.change(it, old, now.line == "" && old.line == "")
		}
		if it.changed || now.line != "" {
			continue
		}
		if old, shared := l.outdated(now); old != nil {
			l.change(it, old, old.sentences == 1 && 2*shared >= len(old.about))
		}
	}
}

// takeSame takes the latest statement about the same thing in the same form out of the list; nil if there is none.
func (l *ledger) takeSame(now *stated) *stated {
	for i, old := range slices.Backward(l.stated) {
		if old.sameThing(now) {
			l.stated = slices.Delete(l.stated, i, i+1)
			return old
		}
	}
	return nil
}

// change notes that a message replaces an older statement: wholly, or a part of an older message.
func (l *ledger) change(it *item, old *stated, wholly bool) {
	if len(old.it.cites) > 0 {
		it.changed, it.changes = true, old.it.newest()
	}
	if wholly {
		l.forget(old.it)
		return
	}
	index := it.newest()
	old.it.addCorrection(index)
	for _, rule := range l.lists[kindRule] {
		if slices.Equal(rule.cites, old.it.cites) && (old.line == "" || strings.Contains(old.line, rule.text)) {
			rule.addCorrection(index)
		}
	}
}

// forget removes what is no longer true.
func (l *ledger) forget(old *item) {
	same := func(o *item) bool { return o.keyed() == old.keyed() }
	l.requests = slices.DeleteFunc(l.requests, same)
	for _, k := range []kind{kindRule, kindDecision} {
		l.lists[k] = slices.DeleteFunc(l.lists[k], func(o *item) bool {
			if !same(o) {
				return false
			}
			delete(l.byKey, indexKey(k, o.keyed()))
			return true
		})
	}
	l.dropQuote(old.newest(), strings.ReplaceAll(ownWords(old.text), lineBreak, "\n"))
}

// markChanged notes in the rules of a message that they replace what was said before.
func (l *ledger) markChanged(message *item) {
	for _, it := range l.lists[kindRule] {
		if slices.Equal(it.cites, message.cites) {
			it.changed, it.changes = true, message.changes
		}
	}
}

// outdated returns the older message that has another value of the same kind and is about the same thing as a new one,
// and how many words they share. It returns nil if there is none, or if several come into question.
func (l *ledger) outdated(now *stated) (old *stated, shared int) {
	if len(now.values) == 0 {
		return nil, 0
	}
	announced := announcesUpdate(l.authors.unsigned(ownWords(now.it.text)))
	if announced < surely && (now.orders || announced == notAtAll && now.label == "") {
		return nil, 0
	}
	var candidates []*stated
	with := map[string]int{}
	for _, was := range l.stated {
		if was.orders && announced < surely || !was.otherValue(now) || was.apartFrom(now) || announced == notAtAll && !was.restatedBy(now) || !l.stillSays(was, now) {
			continue
		}
		candidates = append(candidates, was)
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
			best, second, old, shared = score, best, c, n
		case score > second:
			second = score
		}
	}
	if best == second || announced == maybe && shared < fewestRestated && 2*shared < len(old.about) {
		return nil, 0
	}
	return old, shared
}

// stillSays says whether an older statement is the latest of its message that the ledger has: a request, or a rule of which
// a previous summary left out the message.
func (l *ledger) stillSays(was, now *stated) bool {
	if len(was.it.cites) == 0 || was.it.newest() >= now.it.newest() {
		return false
	}
	if slices.Contains(l.requests, was.it) {
		return true
	}
	return slices.Contains(l.lists[kindRule], was.it) && !slices.ContainsFunc(l.requests, func(o *item) bool { return slices.Equal(o.cites, was.it.cites) })
}
