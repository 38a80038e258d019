package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// callOff is a way of saying that something need not be done: words before and after what is called off.
type callOff struct{ before, after string }

// callOffs are those of the languages that cues know, in lower case. The dots stand for what is called off.
var callOffs = compileCallOffs(
	"never mind …|nevermind …|forget about …|forget …|drop …|skip …|scrap …|cancel …|leave out …",
	"no need for …|no need to …|don't bother with …|don't bother …|we don't need …|we no longer need …|i don't need …|i no longer need …",
	"leave … out|… is no longer needed|… is not needed|… isn't needed|… are no longer needed|… are not needed|… aren't needed",
	"vergiss …|vergessen sie …|verzichte auf …|überspring …|überspringe …|streich …|streiche …|lass … weg|lass … sein|lass … bleiben",
	"lassen wir … weg|lassen wir … sein|wir brauchen … nicht|… brauchen wir nicht|… brauche ich nicht|… braucht es nicht|… ist nicht mehr nötig|… sind nicht mehr nötig",
	"olvida …|olvídate de …|olvide …|descarta …|cancela …|omite …|sáltate …|ya no hace falta …|no hace falta …|ya no necesitamos …|ya no necesito …",
	"oublie …|oubliez …|laisse tomber …|laissez tomber …|annule …|plus besoin de …|pas besoin de …|on n'a plus besoin de …|je n'ai plus besoin de …",
	"esqueça …|esquece …|cancele …|descarte …|pule …|deixa pra lá …|não precisa mais de …|não precisamos mais de …|não preciso mais de …",
	"забудь про …|забудь о …|забудь об …|забудь …|забудьте …|отмени …|пропусти …|больше не нужно …|больше не нужны …|больше не нужна …|больше не нужен …|не надо …",
	"… больше не нужно|… больше не нужны|… больше не нужна|… больше не нужен|… не надо",
	"不用…|不需要…|取消…|跳过…|别管…|别做…|不要做…|放弃…|忘掉…|…就算了|…算了|…不用做了|…不做了|…取消|…不用了|…不需要",
	"…はやめ|…は不要|…はいらない|…はいりません|…は必要ありません|…は必要ない|…はキャンセル|…は中止|…は忘れて|…はスキップ|…はしなくて",
	"… 취소|… 필요 없|… 하지 마|… 그만|… 됐어|… 안 해도|… 잊어|… 건너뛰|… 빼",
)

func compileCallOffs(languages ...string) (all []callOff) {
	for _, language := range languages {
		for way := range strings.SplitSeq(language, "|") {
			before, after, _ := strings.Cut(way, "…")
			all = append(all, callOff{before, after})
		}
	}
	return all
}

// cancel drops the to-dos and next steps that the user calls off, and ends such requests: "never mind the changelog".
func (r *reader) cancel(index uint32, said string) {
	if units(said) > maxSaid || len(r.l.todos)+len(r.l.lists[kindNext])+len(r.l.lists[kindDoing])+len(r.l.requests) == 0 {
		return
	}
	eachStatement(said, never, func(st statement) {
		if asks(st.text) {
			return
		}
		for rest := st.text; rest != ""; {
			var clause string
			clause, rest, _ = cutClause(rest)
			off, ok := calledOff(clause)
			switch {
			case !ok:
			case pronouns[off]:
				// It is what the agent said last that it would do.
				r.l.dropItems(kindNext, func(it *item) bool { return it.box == noBox && len(it.cites) > 0 && it.newest() == r.spoke })
			default:
				r.l.callOff(off, index)
			}
		}
	})
}

// pronouns stand for what was said before.
var pronouns = wordSet("it that this das es eso esto lo ça cela isso isto это этом этот 那个 这个 那 这 それ これ 그거 그건")

// calledOff returns what a clause calls off. Before that, it may have a few words that say nothing.
func calledOff(clause string) (off string, ok bool) {
	lower := strings.ToLower(strings.TrimSpace(clause))
	lower = strings.TrimRight(plainApostrophes(lower), ".!。！ ")
	for {
		word, after, more := strings.Cut(lower, " ")
		if !more || !beforeCallOffs[word] {
			break
		}
		lower = after
	}
	for _, c := range callOffs {
		rest, begins := strings.CutPrefix(lower, c.before)
		if !begins {
			continue
		}
		if c.after == "" {
			return rest, true
		}
		if off, _, ends := strings.Cut(rest, c.after); ends && off != "" {
			return off, true
		}
	}
	return "", false
}

// beforeCallOffs are words that a clause which calls something off may begin with.
var beforeCallOffs = wordSet("and but so then also please just ok okay actually let's und aber dann auch bitte doch y pero entonces por favor et mais alors aussi s'il e mas então и но тогда пожалуйста")

// callOff drops what is still to do and has all words of what is called off.
func (l *ledger) callOff(off string, index uint32) {
	subject := newCalledOff(off)
	if subject.empty() {
		return
	}
	is := func(it *item) bool { return len(it.cites) > 0 && it.newest() < index && subject.of(it) }
	l.todos = slices.DeleteFunc(l.todos, is)
	l.dropItems(kindNext, is)
	l.dropItems(kindDoing, is)
	for _, it := range l.requests[min(1, len(l.requests)):] {
		if it.end == requestOpen && units(it.text) <= maxSaid && is(it) && onlyTask(it.text) {
			it.end = requestFinished
		}
	}
}

// onlyTask says whether a request is a single sentence.
func onlyTask(text string) bool {
	n := 0
	eachStatement(strings.ReplaceAll(text, lineBreak, "\n"), never, func(statement) { n++ })
	return n == 1
}

// calledOffSubject is what a clause calls off.
type calledOffSubject struct {
	// words say what it is about, and text is all of it where words have no spaces between them.
	words map[string]bool
	text  string
}

// leastIdeographs is how many ideographs something has at least that is compared as a text.
const leastIdeographs = 2

func newCalledOff(off string) calledOffSubject {
	s := calledOffSubject{words: subjectWords(off)}
	if r, _ := utf8.DecodeRuneInString(strings.TrimSpace(off)); isCJK(r) {
		s.words, s.text = nil, strings.TrimSuffix(strings.TrimFunc(off, func(r rune) bool { return !isCJK(r) }), "了")
		for _, before := range []string{"那个", "这个", "写", "做", "その", "この"} {
			s.text = strings.TrimPrefix(s.text, before)
		}
		for _, particle := range []string{"은", "는", "을", "를", "이", "가", "도", "の", "を", "も", "的"} {
			s.text = strings.TrimSuffix(s.text, particle)
		}
	}
	return s
}

func (s calledOffSubject) empty() bool {
	return len(s.words) == 0 && utf8.RuneCountInString(s.text) < leastIdeographs
}

// of says whether an item is about what is called off, and does not itself say that something is called off.
func (s calledOffSubject) of(it *item) bool {
	if _, off := calledOff(it.text); off {
		return false
	}
	if s.text != "" {
		return strings.Contains(strings.ToLower(it.text), s.text)
	}
	own := subjectWords(ownWords(it.text))
	for word := range s.words {
		if !own[word] && !hasInflected(own, word) {
			return false
		}
	}
	return true
}

// leastInflected is how many bytes two forms of a word share at least.
const leastInflected = 5

// hasInflected says whether one of some words is another form of a word: one begins like all of the other but its end.
func hasInflected(words map[string]bool, word string) bool {
	for other := range words {
		shared := 0
		for shared < min(len(other), len(word)) && other[shared] == word[shared] {
			shared++
		}
		if shared >= leastInflected && len(word)-shared <= 2*len("ы") && len(other)-shared <= 2*len("ы") {
			return true
		}
	}
	return false
}
