package extractive

import (
	"slices"
	"strings"
)

// decides says whether a sentence states a choice that was made: it has a verb of choice, and it neither asks nor hedges.
// A reason in it may hedge.
func (c *cueReader) decides(text string) bool {
	if asks(text) || opensQuestion(text) || endsInColon(text) || strings.HasPrefix(text, "\"") || strings.HasPrefix(text, "“") {
		return false
	}
	found := c.read(beforeReason(asWish(text)))
	if found&(cueHedges|cueProposes) != 0 {
		return false
	}
	reasoned := len(beforeReason(text)) < len(text)
	compared := found&cueStays != 0 && !tellsNow(text) || found&cueTakes != 0 && tellsOwn(text)
	return found&cueDecided != 0 || declares(text) || found&(cueTakes|cueStays) != 0 && found&cueCompares != 0 && (reasoned || compared) ||
		found&cueStays != 0 && reasoned
}

// asWish writes "I would like" as "I'd like": it is a wish and no doubt.
func asWish(text string) string {
	for _, would := range []string{"I would like", "we would like", "We would like"} {
		text = strings.Replace(text, would, "I'd like", 1)
	}
	return text
}

// own are words with which somebody speaks of what they do themselves.
var own = wordSet("i i'll i'm i've we we'll we're we've let's")

// tellsOwn says whether a sentence tells what its speaker takes instead of something else. In a report without a speaker
// ("Changed the loader to ...", "The loader now uses ...") that is what was done, and a choice only with a reason.
func tellsOwn(text string) bool {
	if tellsNow(text) {
		return false
	}
	for word := range strings.FieldsSeq(strings.ToLower(plainApostrophes(text))) {
		if own[strings.Trim(word, "(,*_\"")] {
			return true
		}
	}
	return false
}

// tellsNow says whether a sentence that compares tells how something works now, or is about things that were named before
// it. Without a reason that is no choice, but what came of one.
func tellsNow(text string) bool { return hasOpening(text, "now ", "all ", "both ") || leans(text) }

// declares says whether a sentence begins with a label for a decision.
func declares(text string) bool {
	return hasOpening(strings.TrimLeft(text, "*_ "), "decision:", "decision**:", "decided:", "agreed:", "our choice:", "final choice:", "final decision:")
}

// mayDecide says whether a sentence with these cues may state a choice.
func mayDecide(text string, found cue) bool {
	return found&(cueDecided|cueTakes|cueStays) != 0 || declares(text)
}

// beforeReason returns the part of a sentence before its reason.
func beforeReason(text string) string {
	for _, because := range []string{
		" because", " since ", " so that ", ", as ", " due to ", " porque ", " ya que ", " já que ", " parce qu", " car ", ", weil ", ", da ", ", denn ", " потому что", ", так как", ", поскольку", "因为", "由于", "原因",
	} {
		if i := strings.Index(text, because); i > 0 {
			text = text[:i]
		}
	}
	return text
}

// decide adds a decision. What was decided before about the same thing goes.
func (r *reader) decide(it *item) {
	now := changeOf(it.text)
	if len(now.rejected) > 0 || now.changed {
		r.l.dropItems(kindDecision, func(old *item) bool {
			return old.newest() <= it.oldest() && old.keyed() != it.keyed() && now.replaces(old)
		})
	}
	r.l.add(it)
	r.decided = append(r.decided, it)
}

// proposes says whether a sentence proposes something that can be understood alone. Only what the user accepts is a
// decision.
func proposes(text string, found cue, names int) bool {
	if found&cueProposes == 0 && !asks(text) || leans(text) || names == 0 && contentUpTo(text, 6) < 6 {
		return false
	}
	return !asks(text) || found&(cueDecided|cueTakes|cueStays|cueCompares) != 0
}

// acceptedPrefix begins decisions that the user made by accepting a proposal.
const acceptedPrefix = "Accepted: "

// answer settles what the agent decided or proposed last by the user's answer to it.
func (r *reader) answer(index uint32, said string) {
	proposed, decided := r.proposed, r.decided
	r.proposed, r.decided = nil, nil
	if proposed == nil && len(decided) == 0 {
		return
	}
	refused := refuses(said)
	about := func(it *item) bool {
		// A no answers the agent's question, if there is one.
		return refused && it.newest() == r.spoke && (r.asked == "" || sharesWord(it.text, r.asked)) || sharesWord(it.text, said)
	}
	switch {
	case refused || prefersOther(said):
		r.l.dropItems(kindDecision, func(it *item) bool {
			return slices.Contains(decided, it) && about(it)
		})
	case proposed != nil && accepts(said) && r.cues.substanceOf(said) == nod && !hasValue(said) && !containsAnyCase(said, "option"):
		proposed.text, proposed.key = acceptedPrefix+proposed.text, ""
		proposed.addCites(index)
		r.decide(proposed)
	}
}

// dropItems removes items of a kind.
func (l *ledger) dropItems(k kind, gone func(it *item) bool) {
	l.lists[k] = slices.DeleteFunc(l.lists[k], func(it *item) bool {
		if !gone(it) {
			return false
		}
		delete(l.byKey, indexKey(k, it.keyed()))
		return true
	})
}

// refusals are the words that an answer begins with which refuses what was said before it, and assents those that accept
// it.
var (
	refusals = wordSet("no nope nah wrong nein non nee não нет неа")
	assents  = wordSet(`yes yeah yep yup ok okay sure agreed do go sounds looks good great perfect fine please exactly right correct approved lgtm ja klar genau oui d'accord
		sí si vale claro sim certo да хорошо ладно давай`)
)

// refuses says whether an answer begins with a no that stands alone, or with a word that turns against what was said.
func refuses(said string) bool {
	clause, rest, _ := cutClause(said)
	if hasOpening(rest, "that's fine", "that’s fine", "that's ok", "that’s ok", "that is fine", "it's fine", "all good", "all fine", "all is well", "go on", "go ahead", "looks ", "sounds ", "nothing", "passt", "alles gut") {
		return false
	}
	return refusals[strings.ToLower(strings.TrimSpace(strings.Trim(clause, ".!")))] ||
		hasOpening(said, "but ", "actually", "i'd rather", "i would rather", "i’d rather", "let's not", "lieber", "doch lieber", "plutôt", "mejor ", "лучше", "不是", "不对", "不行", "还是", "いや", "いいえ", "違う", "やっぱり", "아니", "그냥")
}

// prefersOther says whether an answer may want something else than what was said before it.
func prefersOther(said string) bool {
	if hasOpening(said, "don't", "don’t", "dont", "do not", "instead", "rather", "wait", "stop", "hmm", "别", "不要") {
		return true
	}
	for _, within := range []string{" instead", "rather than", "i'd rather", "i'd prefer", "i prefer", "stattdessen", "plutôt", "en su lugar", "em vez", "вместо", "而不是", "代わりに", "대신", "말고"} {
		if containsAnyCase(said, within) {
			return true
		}
	}
	return false
}

// accepts says whether an answer begins with an assent.
func accepts(said string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(said), " ")
	return assents[strings.ToLower(strings.Trim(first, ".,!"))] ||
		hasOpening(said, "好", "可以", "行", "同意", "对", "是", "没问题", "はい", "お願い", "了解", "いいです", "네", "좋", "그래", "확인")
}

// hasOpening says whether a text begins with one of some words, in lower case.
func hasOpening(text string, openings ...string) bool {
	return slices.ContainsFunc(openings, func(o string) bool { return hasPrefixAnyCase(text, o) })
}

// change is what a new decision says about earlier ones.
type change struct {
	// said are its words, and rejected those of what it rejects.
	said, rejected map[string]bool
	// changed says that it tells of a change.
	changed bool
}

// changeOf reads a new decision.
func changeOf(now string) change {
	_, rejected := splitChoice(now)
	return change{subjectWords(beforeReason(now)), subjectWords(rejected), tellsChange(now)}
}

// replaces says whether a new decision is about the same thing as an old one, and says otherwise: it rejects what the old
// one chose for the same purpose, or repeats most of its words together with one that tells of a change.
func (c change) replaces(old *item) bool {
	if old.subject == nil {
		chosen, _ := splitChoice(old.text)
		old.subject = subjectWords(beforeReason(chosen))
	}
	before := old.subject
	for word := range c.rejected {
		if !before[word] {
			return false
		}
	}
	shared := 0
	for word := range c.said {
		if before[word] {
			shared++
		}
	}
	if len(c.rejected) > 0 {
		return shared > len(c.rejected)
	}
	return c.changed && shared >= 3 && 5*shared >= 3*min(len(c.said), len(before))
}

// splitChoice splits a decision into what it chooses and what it rejects.
func splitChoice(text string) (chosen, rejected string) {
	for _, instead := range []string{"instead of ", "rather than ", "switched from ", "en lugar de ", "en vez de ", "em vez de ", "au lieu de ", "plutôt que ", "anstelle von ", "statt ", "вместо "} {
		if before, after, ok := strings.Cut(text, instead); ok {
			if words := strings.Fields(after); len(words) > 3 {
				after = strings.Join(words[:3], " ")
			}
			if i := strings.IndexAny(after, ",;.:"); i >= 0 {
				after = after[:i]
			}
			if from, _, ok := strings.Cut(after, " to "); ok {
				after = from
			}
			if from, _, ok := strings.Cut(after, " for "); ok {
				after = from
			}
			return before, after
		}
	}
	return text, ""
}

// subjectWords are the words of a text that say what it is about, in lower case.
func subjectWords(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		word = strings.ToLower(strings.Trim(word, "`\"'.,:;!?()[]“”*"))
		if len(word) > 3 && !commonWords[word] || len(word) == 3 && strings.ContainsAny(word, "0123456789_./") {
			words[word] = true
		}
	}
	return words
}

// commonWords say nothing about the subject of a decision.
var commonWords = wordSet(`that this with from will into have been were they them then than when what which while where would should could also just only over after before
	because since instead rather decided decision chose chosen settled agreed going went switched switch using used uses keep kept make made want need each every some more
	about there their your ours other option approach accepted let's we'll i'll it's now for`)

// sharesWord says whether two texts share a word that says what they are about.
func sharesWord(a, b string) bool {
	words := subjectWords(b)
	for word := range subjectWords(a) {
		if words[word] {
			return true
		}
	}
	return false
}

// tellsChange says whether a decision tells that something is no longer as it was.
func tellsChange(now string) bool {
	return slices.ContainsFunc([]string{" now ", "after all", "switched", "changed", "no longer", "reverted", "anymore"}, func(w string) bool { return containsAnyCase(now, w) })
}
