package extractive

import (
	"strings"
)

// keepWhole adds a short message that ended and has firm rules in it as a rule, for where it fits. The requests below
// the goal keep the order apart from the rule: that is what to do now.
func (p *plan) keepWhole(it *item) {
	if it.end == requestOpen || it == p.goal || it == p.last || it == p.task || len(it.corrections) > 0 {
		return
	}
	rules := p.rulesWithin(it)
	if len(rules) == 0 {
		return
	}
	whole := wholeRule(it, rules)
	p.put(whole)
	p.wholes[whole], p.inWhole[it] = true, true
	for _, rule := range rules {
		p.inWhole[rule] = true
	}
}

// rulesWithin returns the firm rules of the user in a short message. It returns none if one of them was said in other
// messages, too.
func (p *plan) rulesWithin(it *item) []*item {
	if it.noise || !isShort(it) {
		return nil
	}
	said := folded(it.text)
	var rules []*item
	for _, rule := range p.ruled.of(it) {
		if rule.by != byUser {
			continue
		}
		if len(rule.cites) > 1 || !strings.Contains(said, folded(rule.text)) {
			return nil
		}
		rules = append(rules, rule)
	}
	return rules
}

// wholeRule returns a message as a rule. Shortened, it says its rules.
func wholeRule(message *item, rules []*item) *item {
	it := *message
	it.kind, it.key, it.end, it.tier, it.crowd = kindRule, "", requestOpen, rules[0].tier, rules[0].crowd
	firm := make([]string, 0, len(rules))
	for _, rule := range rules {
		it.tier, it.crowd, it.score = min(it.tier, rule.tier), min(it.crowd, rule.crowd), max(it.score, rule.score)
		it.carried = it.carried || rule.carried
		firm = append(firm, rule.text)
	}
	it.firm = strings.Join(firm, " ")
	return &it
}

// markFirm finds the rules in longer lines of the previous summary, which stay if a line must be shortened.
func (r *reader) markFirm() {
	for _, it := range r.l.lists[kindRule] {
		if it.by == byUser {
			it.firm = r.firmIn(it.text)
		}
	}
}

// firmIn returns the sentences of a message that are rules, or "" if that is all of it.
func (r *reader) firmIn(text string) string {
	var firm []string
	all := true
	eachStatement(strings.ReplaceAll(text, lineBreak, "\n"), never, func(st statement) {
		found := r.cues.read(st.text)
		if looksRule(st.text) && saysFirmly(st.text, found) && r.rulesBy(st, found, byUser) {
			firm = append(firm, st.text)
		} else {
			all = false
		}
	})
	if all {
		return ""
	}
	return strings.Join(firm, " ")
}
