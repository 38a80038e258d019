package extractive

import (
	"slices"
	"strings"
)

// withoutRules removes rules from a text that have lines of their own in the summary. It returns "" if nothing
// meaningful is left; otherwise it leaves the tasks in the rules, too.
func withoutRules(text string, rules []*item) string {
	rest := cutRules(text, rules, func(*item) string { return "" })
	if rest == text || rest == "" {
		return rest
	}
	return cutRules(text, rules, (*item).taskIn)
}

// cutRules puts something else in the place of each rule in a text.
func cutRules(text string, rules []*item, instead func(*item) string) string {
	cut, sign := false, ""
	for _, it := range rules {
		rule := it.text[len(it.sign):]
		i := strings.Index(text, rule)
		if i < 0 || len(rule) < 8 {
			continue
		}
		text = text[:i] + instead(it) + text[i+len(rule):]
		cut, sign = true, it.sign
	}
	if !cut {
		return text
	}
	var kept []string
	for line := range strings.SplitSeq(text, strings.TrimSpace(lineBreak)) {
		line = strings.Join(strings.Fields(line), " ")
		if body, _ := listItem(strings.TrimPrefix(line+" ", sign) + " "); contentUpTo(body, 1) > 0 {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, lineBreak)
}

// beforeRule returns the task in a sentence whose other part is a rule with a line of its own, as in "Port the parser,
// and never touch the old one."
func (c *cueReader) beforeRule(sentence string) string {
	for i, r := range sentence {
		switch r {
		case ',', ';', '，', '；':
		default:
			continue
		}
		head := strings.TrimSpace(sentence[:i])
		if contentOf(head) < 2 || c.read(head)&(cueMust|cuePrefer) != 0 {
			continue
		}
		if c.read(sentence[i:])&cueMust != 0 && (opensTask(head) || requests(head)) {
			return head
		}
	}
	return sentence
}

// taskIn returns the task that a sentence with a rule begins with, as a sentence; "" if it has none.
func (it *item) taskIn() string {
	if it.task == nil {
		var c cueReader
		task, rule := "", it.text[len(it.sign):]
		if head := c.beforeRule(rule); head != rule && it.by == byUser {
			task = head + rule[len(strings.TrimRight(rule, ".!。！")):]
		}
		it.task = &task
	}
	return *it.task
}

// firmRules returns the rules of each message, without soft ones.
func firmRules(list []*item) ruleIndex {
	ruled := ruleIndex{}
	for _, it := range list {
		if it.tier != tierSoft {
			ruled.add(it)
		}
	}
	return ruled
}

// ruleIndex holds rules by the messages that they come from.
type ruleIndex map[uint32][]*item

func (x ruleIndex) add(it *item) {
	for _, c := range it.cites {
		x[c] = append(x[c], it)
	}
}

// of returns the rules of a request's message.
func (x ruleIndex) of(it *item) []*item {
	if len(it.cites) == 0 {
		return nil
	}
	return x[it.newest()]
}

// holds says whether one of its rules contains the whole request.
func (x ruleIndex) holds(it *item) bool {
	said := ownWords(it.text)
	for _, rule := range x.of(it) {
		if strings.Contains(rule.text, said) || rule.keyed() == it.keyed() {
			return true
		}
	}
	return false
}

// unruled returns requests without the rules in them. It drops requests of which only a word or two are left, and no task
// and no value.
func unruled(list []*item, ruled ruleIndex) []*item {
	var kept []*item
	for _, it := range list {
		text := withoutRules(it.text, ruled.of(it))
		if text == it.text {
			kept = append(kept, it)
		} else if own := ownWords(text); contentOf(own) > 2 || hasValue(own) || opensTask(own) || requests(own) {
			rest := *it
			rest.text = text
			rest.leaveCorrections(ruled.of(it))
			kept = append(kept, &rest)
		}
	}
	return kept
}

// unruledGoal returns the goal's text without the rules in it, as long as it still says what to do.
func (p *plan) unruledGoal(ruled ruleIndex) string {
	switch text := withoutRules(p.goal.text, afterOpening(p.goal.text, ruled.of(p.goal))); {
	case text == "":
		return p.cues.beforeRule(p.goal.text)
	case text == p.goal.text:
		return text
	case addsToATask(text), p.cues.ordersIn(p.goal.text) && !p.cues.ordersIn(text):
		// A rule is a part of the task.
		return p.goal.text
	default:
		return text
	}
}

// afterOpening returns the rules that do not begin a long text: its first line is its title.
func afterOpening(text string, rules []*item) []*item {
	if units(text) <= maxGoal {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(it *item) bool { return strings.HasPrefix(text, it.text) })
}
