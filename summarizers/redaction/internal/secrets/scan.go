package secrets

import (
	"context"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

// span is a place where a rule found a secret.
type span struct {
	start, end int
	rule       int
}

// reading is a search of one text. A rule reads only what is near its keywords, so that the time does not grow faster
// than the text, whatever the text.
type reading struct {
	set  *ruleset
	text string
	// found are the secrets in the order in which they were found.
	found []span
	// until is, by rule, where the last match ended. What a rule has matched it does not match again.
	until []int
	// tries are attempts to match, by rule.
	tries []*try
	// value caches where values may begin for the name that ends at named.
	named  int
	values []int
	// sentence is the last name for a secret in a sentence, which is read up to the next one.
	sentence told
	// table is where the header of the last table begins, and where its rows end.
	table [2]int
	// reached is the end of the keyword that was found last, and lineStart where its line begins.
	reached, lineStart int
	// excepted is 1 if the text has what lines have that exceptions are about, -1 if not, and 0 before that is known.
	excepted int
	// plain is the last value that the rule for names took for no secret.
	plain [2]int
	// names counts how many names are read in a part of the text.
	names readings
	// commands counts how many names in a part of the text are looked at as arguments of commands.
	commands readings
	// limits count, by rule, how often the same part of the text is read.
	limits []readings
	// asked counts how often rules were asked, and windows the bytes that expressions were given.
	asked, windows int
	// judged counts the bytes of values that the rule for names took for secrets or not.
	judged int
}

// pauseBytes is how much text is read between two looks at the context.
const pauseBytes = 8 << 10

// scan returns the secrets that the rules find in a text. If the context ends, some may be missing.
func (s *ruleset) scan(ctx context.Context, text string) []span { return s.read(ctx, text).found }

func (s *ruleset) read(ctx context.Context, text string) *reading {
	r := &reading{set: s, text: text, until: make([]int, len(s.rules)), tries: make([]*try, len(s.rules)), limits: make([]readings, len(s.rules)), named: -1}
	state := int32(0)
	taken := s.placeholders(text)
	for i, pause := 0, 0; i < len(text); i++ {
		if i >= pause {
			if pause = i + pauseBytes; ctx.Err() != nil {
				break
			}
		}
		if len(taken) > 0 && i == taken[0][0] {
			// A placeholder has words of rules, and no secret.
			i, state, taken = taken[0][1]-1, 0, taken[1:]
			continue
		}
		if text[i] == '\n' {
			r.lineStart = i + 1
		}
		state = s.words.after(state, text[i])
		for _, word := range s.words.ending(state) {
			for _, k := range s.of[word] {
				r.near(k, i+1-s.words.lengths[word], i+1)
			}
		}
	}
	r.finish(len(text))
	return r
}

// steps is how much work the reading was: how often rules were asked, and what they read.
func (r *reading) steps() int {
	steps := r.asked + r.windows + r.judged
	for _, t := range r.tries {
		if t != nil {
			steps += t.steps
		}
	}
	return steps
}

// near looks for secrets of a rule at one of its keywords.
func (r *reading) near(k keyword, start, end int) {
	if start < r.until[k.rule] {
		return
	}
	r.asked++
	r.reached = end
	rule := &r.set.rules[k.rule]
	if rule.find != nil {
		rule.find(r, k.rule, start, end)
		return
	}
	m := rule.matcher()
	t := r.tries[k.rule]
	if t == nil {
		t = &try{text: r.text, runs: make([]longest, m.runs)}
		r.tries[k.rule] = t
	}
	switch {
	case m.expression != nil:
		r.window(k.rule, m, start, end)
		return
	case m.assigned != nil && r.assigned(k.rule, m, t, start, end):
		return
	}
	for i := range m.fixed {
		at := m.fixed[i].at[k.word]
		if at < 0 || at > start {
			continue
		}
		t.groups = [16]int{}
		if t.match(m.fixed[i].sequence, start-at) {
			from, to := t.secret(start-at, m.group)
			r.take(k.rule, from, to, start-at, t.end)
			return
		}
	}
}

// assigned looks for a secret that is assigned to a name which a keyword ends.
func (r *reading) assigned(rule int, m *matcher, t *try, start, end int) bool {
	if r.named != end {
		r.named, r.values = end, valuesAfter(r.text, end, r.values[:0])
	}
	for _, at := range r.values {
		for _, s := range m.assigned {
			t.groups = [16]int{}
			if !t.match(s, at) {
				continue
			}
			if m.name == nil || m.name.MatchString(r.text[max(start-nameBytes, 0):at]) {
				from, to := t.secret(at, 0)
				r.take(rule, from, to, start, t.end)
			}
			return true
		}
	}
	return false
}

const (
	// nameBytes is how much of a name may stand before or after a keyword.
	nameBytes = 32
	// windowBefore and windowAfter are what an expression reads around a keyword.
	windowBefore, windowAfter = 128, 512
)

// valuesAfter appends the places where a value may begin after a name: behind blanks, quotes and an operator.
func valuesAfter(text string, at int, values []int) []int {
	for n := 0; n < nameBytes && at < len(text) && (wordByte(text[at]) || nameJoints.has(text[at])); n++ {
		at++
	}
	for n := 0; n < 3 && at < len(text) && beforeSign.has(text[at]); n++ {
		at++
	}
	for _, at := range behindOperator(text, at) {
		if at == 0 {
			continue
		}
		n := 0
		for n < 5 && at+n < len(text) && behindSign.has(text[at+n]) {
			n++
		}
		for first := n; n >= 0; n-- {
			// Only these characters may also begin a secret.
			if n == first || text[at+n] == '=' || text[at+n] == '"' {
				values = append(values, at+n)
			}
		}
	}
	return values
}

// behindOperator returns the places behind the operators that stand at a place, 0 for none.
func behindOperator(text string, at int) (behind [2]int) {
	if at >= len(text) {
		return behind
	}
	rest := text[at:min(at+4, len(text))]
	switch rest[0] {
	case '>', ',':
		behind[0] = at + 1
	case '=':
		behind[0] = at + 1
		if strings.HasPrefix(rest, "=>") {
			behind[1] = at + 2
		}
	case ':':
		colons := len(rest) - len(strings.TrimLeft(rest, ":"))
		if colons < len(rest) && rest[colons] == '=' {
			behind[0] = at + colons + 1
		}
		behind[1] = at + 1
	case '|', '?':
		if rest[:min(2, len(rest))] == "||" || rest[:min(2, len(rest))] == "?=" {
			behind[0] = at + 2
		}
	}
	return behind
}

// window matches an expression with what is near a keyword.
func (r *reading) window(rule int, m *matcher, start, end int) {
	from, to := max(start-windowBefore, 0), min(end+windowAfter, len(r.text))
	for from > 0 && !utf8.RuneStart(r.text[from]) {
		from--
	}
	for to < len(r.text) && !utf8.RuneStart(r.text[to]) {
		to++
	}
	r.windows += to - from
	for _, groups := range m.expression.FindAllStringSubmatchIndex(r.text[from:to], -1) {
		first, last := secretOf(groups, m.group)
		r.take(rule, from+first, from+last, from+groups[0], from+groups[1])
	}
	r.until[rule] = max(r.until[rule], min(end+windowAfter/2, to))
}

// take adds a match of a rule if it is a secret.
func (r *reading) take(rule, start, end, matchStart, matchEnd int) {
	start, end = bareOf(r.text, start, end)
	if n := len(r.found) - 1; n >= 0 && r.set.rules[rule].ID == generic && r.found[n].start == start && r.found[n].end == end {
		// A rule with a better name found it.
		r.until[rule] = max(matchEnd, r.until[rule])
		return
	}
	if start >= end {
		return
	}
	if r.secret(&r.set.rules[rule], start, end, matchStart, matchEnd) {
		r.found = append(r.found, span{start, end, rule})
		r.until[rule] = max(matchEnd, r.until[rule])
	}
}

// add adds a secret that a finder found.
func (r *reading) add(rule, start, end int) {
	if start < end {
		r.found = append(r.found, span{start, end, rule})
	}
}

// bareOf shrinks a range to exclude quotes around the secret, and backslashes before the closing quote.
func bareOf(text string, start, end int) (int, int) {
	end = start + len(strings.TrimRight(text[start:end], `\`))
	if end-start >= 2 && (text[start] == '"' || text[start] == '\'') && text[start] == text[end-1] {
		return start + 1, end - 1
	}
	return start, end
}

// secret returns the range of the secret in the match: its group, or the first group that is not empty.
func (t *try) secret(start, group int) (from, to int) {
	switch {
	case group == wholeMatch:
		return start, t.end
	case group > 0:
		return t.groups[2*group], t.groups[2*group+1]
	}
	for g := 2; g < len(t.groups); g += 2 {
		if t.groups[g+1] > t.groups[g] {
			return t.groups[g], t.groups[g+1]
		}
	}
	return start, t.end
}

// secretOf returns the range of the secret in a match of an expression.
func secretOf(groups []int, group int) (start, end int) {
	start, end = groups[0], groups[1]
	switch {
	case group == wholeMatch:
		return start, end
	case group > 0:
		return max(groups[2*group], 0), max(groups[2*group+1], 0)
	}
	for g := 2; g < len(groups); g += 2 {
		if groups[g] >= 0 && groups[g+1] > groups[g] {
			return groups[g], groups[g+1]
		}
	}
	return start, end
}

// drawn says whether what a rule's expression found is as much drawn as its secrets.
func (r *rule) drawn(text string, start, end int) bool {
	secret := text[start:end]
	return (r.Entropy <= 0 || entropy(secret) > r.Entropy) && (r.ID != generic || !notGeneric(text, start, end)) && (r.ID != "hashicorp-tf-password" || !standIn(secret)) &&
		(r.ID != "vault-service-token" || !strings.HasPrefix(secret, "s.") || mixtureOf(secret).digits > 2 || drawnWord(secret[2:]))
}

// secret says whether a match of a rule's expression is a secret.
func (r *reading) secret(of *rule, start, end, matchStart, matchEnd int) bool {
	if of.ID != generic {
		return of.drawn(r.text, start, end) && r.exception(of, start, end, matchStart, matchEnd) == nil
	}
	// Several words of a name are keywords, and have the same value.
	if r.plain == [2]int{start, end} {
		return false
	}
	r.judged += end - start
	if !of.drawn(r.text, start, end) {
		r.plain = [2]int{start, end}
		return false
	}
	list := r.exception(of, start, end, matchStart, matchEnd)
	if list != nil && list.always(r.text[start:end]) {
		r.plain = [2]int{start, end}
	}
	return list == nil
}

// exception returns the list that says that a match of a rule's expression is no secret, or nil.
func (r *reading) exception(of *rule, start, end, matchStart, matchEnd int) *CompiledAllowlist {
	secret := r.text[start:end]
	match := strings.Trim(r.text[matchStart:matchEnd], "\n")
	allows := func(lists []*CompiledAllowlist) *CompiledAllowlist {
		for _, list := range lists {
			line := ""
			if list.Target == Line && r.lines() {
				line = lineAround(r.text, matchStart, matchEnd)
			}
			if list.Allows(secret, match, line) {
				return list
			}
		}
		return nil
	}
	if maybeAllowed(secret) {
		if list := allows(r.set.allow()); list != nil {
			return list
		}
	}
	if of.ID == generic && drawnLong(secret) {
		return nil
	}
	return allows(of.allow())
}

// lines says whether a line of the text may be one that an exception is about.
func (r *reading) lines() bool {
	if r.excepted == 0 {
		r.excepted = -1
		if exceptedLine(r.text) {
			r.excepted = 1
		}
	}
	return r.excepted > 0
}

// drawnLong says whether a text is so long and so mixed that it holds words only by chance.
func drawnLong(text string) bool {
	m := mixtureOf(text)
	return len(text) >= 32 && m.digits > 2 && m.upper > 5 && m.lower > 5 && m.letters()+m.digits == len(text) && entropy(text) > 4.2
}

// generic is the rule that knows a secret only by its name and its entropy.
const generic = "generic-api-key"

// notGeneric says that what is assigned to a name is no secret, although it is drawn at random: a digest, a public key,
// a name that ends with a UUID.
func notGeneric(text string, start, end int) bool {
	before := text[max(start-48, 0):start]
	digest := len(before) >= len("sha256:") && strings.EqualFold(before[len(before)-len("sha256:"):], "sha256:")
	return digest || strings.HasSuffix(before, "sha512-") || drawnNames.any(before) ||
		end-start > 36 && uuidLike(text[start:end])
}

// drawnNames are names of what is drawn and no secret: public keys, pages, what caches keep things under.
var drawnNames = newWordSet([]string{"public", "page_token", "pagetoken", "page-token", "next_token", "nexttoken", "next-token", "continuation", "sync_token", "synctoken", "cache-key", "cache_key", "cachekey", "cache key", "from key", "restore-key"})

// lineBytes is how much of a line is read before and after a match.
const lineBytes = 256

func lineAround(text string, start, end int) string {
	from, to := max(start-lineBytes, 0), min(end+lineBytes, len(text))
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return text[from:to]
}

// shares are n*log2(n) for small n.
var shares = sync.OnceValue(func() *[512]float64 {
	var of [512]float64
	for n := 2; n < len(of); n++ {
		of[n] = float64(n) * math.Log2(float64(n))
	}
	return &of
})

// entropy returns the Shannon entropy in bits per character, like gitleaks over the length in bytes.
func entropy(text string) float64 {
	var ascii [utf8.RuneSelf]uint16
	var seen [utf8.RuneSelf]byte
	distinct := 0
	var others map[rune]int
	for _, c := range text[:min(len(text), 1<<15)] {
		if c < utf8.RuneSelf {
			if ascii[c] == 0 {
				seen[distinct] = byte(c)
				distinct++
			}
			ascii[c]++
			continue
		}
		if others == nil {
			others = make(map[rune]int)
		}
		others[c]++
	}
	of := shares()
	bits, counted := 0.0, 0
	add := func(n int) {
		counted += n
		if n < len(of) {
			bits += of[n]
			return
		}
		bits += float64(n) * math.Log2(float64(n))
	}
	for _, c := range seen[:distinct] {
		add(int(ascii[c]))
	}
	for _, n := range others {
		add(n)
	}
	length := float64(len(text))
	if counted == len(text) && counted < len(of) {
		return (of[counted] - bits) / length
	}
	return (float64(counted)*math.Log2(length) - bits) / length
}
