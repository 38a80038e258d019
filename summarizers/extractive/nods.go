package extractive

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// afterNods removes approvals, thanks and greetings from both ends of a sentence, clause by clause.
func afterNods(s string) (rest string, nodded bool) {
	rest = s
	for rest != "" {
		clause, after, _ := cutClause(rest)
		if !isNod(clause) {
			break
		}
		nodded, rest = true, after
	}
	for rest != "" {
		i := strings.LastIndexAny(strings.TrimRight(rest, ".!?。！？ "), ",;，；、")
		if i < 0 {
			break
		}
		for i > 0 && !utf8.RuneStart(rest[i]) {
			i--
		}
		_, size := utf8.DecodeRuneInString(rest[i:])
		if !isNod(rest[i+size:]) {
			break
		}
		nodded, rest = true, rest[:i]
	}
	// "yes need to be clean", "好的现在重命名"
	if opening := leadingNod(rest); opening > 0 && opening < len(rest) {
		nodded, rest = true, strings.TrimSpace(rest[opening:])
	}
	return rest, nodded
}

// cutClause splits off the first clause of a sentence.
func cutClause(s string) (clause, rest string, cut bool) {
	for i, r := range s {
		switch r {
		case ',', ';', '!', '，', '；', '、', '。', '！', '—', '–', '：':
		case '.', ':', '?', '-':
			if next := s[i+1:]; next != "" && next[0] != ' ' || r == '-' && (i == 0 || s[i-1] != ' ') {
				continue
			}
		default:
			continue
		}
		return s[:i], strings.TrimSpace(s[i+utf8.RuneLen(r):]), true
	}
	return s, "", false
}

// nodWords are the words of approvals, thanks and greetings. A clause that has only such words is a nod.
var nodWords = wordSet(`yes yeah yep yup ya y ok okay k kk sure thanks thank thx ty you u great good nice perfect awesome cool fine right correct
	exactly excellent wonderful amazing brilliant agreed agree looks look looking sounds sound seems to me lgtm sgtm commit push merge ship
	land it that this them these those go on ahead continue proceed carry keep going please pls do does so and then now next all is are was very
	much a lot the with for of i i'm we let's let us approve approved approves done night morning evening afternoon tomorrow today bye goodbye hello hi hey
	there welcome no nope not yet later wait stop well just start begin again retry try works work working course alright wow your
	you're recommendation suggestion plan option first second one both either way everything anything else nothing same here back soon take time
	appreciate appreciated help assistance team all's that's it's lovely super neat love happy glad hear have nice day weekend luck job
	working task whatever approach think suitable prefer best git make feel free when ready sorry finalize wait
	absolutely definitely certainly indeed understood got gotcha noted roger confirm confirmed true step steps change changes off up if as said`)

// strongNods are words that approve, thank or greet on their own at the beginning of a sentence.
var strongNods = wordSet(`yes yeah yep yup ok okay sure thanks thank thx great perfect awesome cool agreed exactly excellent lgtm sgtm alright wow
	nope no good nice fine right correct wonderful brilliant absolutely definitely understood hello hi hey`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// nodPhrases are approvals, thanks and greetings in scripts without spaces, and the particles around them. A longer
// phrase comes before a shorter one that begins it.
var nodPhrases = []string{
	"看起来不错", "看起来没问题", "看着不错", "看着没问题", "看起来很好", "太好了", "太棒了", "没有问题", "没问题", "没关系", "不客气", "辛苦了", "辛苦", "谢谢你", "谢谢您",
	"谢谢", "多谢", "感谢", "非常", "请继续", "继续吧", "继续", "接着做", "接着来", "接着", "下一步", "开始吧", "开始", "提交", "推送", "合并", "同意", "按你说的", "按照你说的",
	"按计划", "就这样", "就这么", "就按", "这样", "可以的", "可以", "好的", "好吧", "好了", "好", "行", "对的", "对", "是的", "是", "嗯", "哦", "哈", "不错", "很好", "很棒",
	"没错", "确认", "批准", "通过", "收到", "明白", "了解", "知道了", "知道", "完美", "赞", "晚安", "再见", "早上好", "早安", "你好", "您好", "大家", "做吧", "干吧", "来吧", "搞吧", "去做", "做", "办",
	"执行", "进行", "方案", "计划", "不用了", "不用", "不是", "不", "没有", "请", "那就", "那", "就", "先", "都", "了", "吧", "啊", "呀", "呢", "的", "哈", "啦", "你", "您", "我", "代码", "一下", "下去",
	"はい", "ありがとうございます", "ありがとう", "お願いします", "続けて", "了解", "네", "감사합니다", "계속",
}

// isNod says whether a clause has only approvals, thanks or greetings.
func isNod(clause string) bool {
	seen := false
	for clause != "" {
		if n := nodAt(clause); n > 0 {
			clause, seen = clause[n:], true
			continue
		}
		r, size := utf8.DecodeRuneInString(clause)
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return false
		}
		clause = clause[size:]
	}
	return seen
}

// nodAt returns the length of the nod word or phrase at the beginning of s, or 0.
func nodAt(s string) int {
	if s[0] < utf8.RuneSelf {
		end := 0
		for end < len(s) && (isLetter(s[end]) || end > 0 && s[end] == '\'') {
			end++
		}
		if end == 0 || end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '_' || s[end] == '/' || s[end] == '-') {
			return 0
		}
		if isNodWord(s[:end]) {
			return end
		}
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	for _, p := range nodsByCharacter[s[:size]] {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// nodsByCharacter are the nod phrases by their first character.
var nodsByCharacter = func() map[string][]string {
	by := map[string][]string{}
	for _, p := range nodPhrases {
		_, size := utf8.DecodeRuneInString(p)
		by[p[:size]] = append(by[p[:size]], p)
	}
	return by
}()

// nodLengths are the lengths of the nod words by their first letter, a bit for each. Most words are told by these to be
// none.
var nodLengths = func() (lengths [256]uint32) {
	for word := range nodWords {
		lengths[word[0]] |= 1 << len(word)
		lengths[word[0]-'a'+'A'] |= 1 << len(word)
	}
	return lengths
}()

// isNodWord says whether a word of ASCII is a nod word.
func isNodWord(word string) bool {
	if len(word) >= 32 || nodLengths[word[0]]>>len(word)&1 == 0 {
		return false
	}
	lower := make([]byte, 0, 32)
	for i := range len(word) {
		b := word[i]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower = append(lower, b)
	}
	// Looking up the bytes makes no string of them.
	return nodWords[string(lower)]
}

// leadingNod returns the length of the nod at the beginning of a sentence, if no punctuation follows it.
func leadingNod(s string) int {
	end := 0
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	if end > 0 {
		if end < len(s) && s[end] == ' ' && strongNods[strings.ToLower(s[:end])] {
			return end
		}
		return 0
	}
	for _, p := range []string{"好的", "好", "可以", "是的", "谢谢", "嗯", "对", "没问题", "不错"} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// contentOf counts the words of a text that are not nod words. Two ideographs count as one word.
func contentOf(s string) int { return contentUpTo(s, math.MaxInt) }

// contentUpTo is contentOf, but stops counting at most words.
func contentUpTo(s string, most int) int {
	n, ideographs := 0, 0
	for s != "" && n+(ideographs+1)/2 < most {
		if s[0] < utf8.RuneSelf && !isWordStart[s[0]] {
			s = s[1:]
			continue
		}
		// A short phrase may be a part of a longer word.
		if k := nodAt(s); k > 0 && (s[0] < utf8.RuneSelf || k >= 6) {
			s = s[k:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case isCJK(r):
			if unicode.IsLetter(r) {
				ideographs++
			}
			s = s[size:]
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			n++
			s = s[contentWord(s):]
		default:
			s = s[size:]
		}
	}
	return n + (ideographs+1)/2
}

// contentWord returns the length of the word at the beginning of s, with the names and paths in it.
func contentWord(s string) int {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if !isWordByte[s[i]] {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isCJK(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '’' {
			return i
		}
		i += size
	}
	return len(s)
}

// isWordStart and isWordByte are the ASCII characters with which a word begins, and of which it is made.
var isWordStart, isWordByte = func() (start, inside [256]bool) {
	for b := range utf8.RuneSelf {
		start[b] = unicode.IsLetter(rune(b)) || unicode.IsNumber(rune(b))
		inside[b] = start[b] || strings.IndexByte("_-/.'", byte(b)) >= 0
	}
	return start, inside
}()
