package extractive

import (
	"strings"
	"unicode/utf8"
)

// cue is a meaning that the words of a sentence suggest.
type cue uint32

const (
	// cueMust, cuePrefer and cueSoft are the strengths of rules.
	cueMust cue = 1 << iota
	cuePrefer
	cueSoft
	// cueDecided is a decision. cueWeighed is one only if the sentence also gives a reason or names something.
	cueDecided
	cueWeighed
	// cueWhy is a reason.
	cueWhy
	// cueDone is something finished, cueFixed something repaired.
	cueDone
	cueFixed
	// cueNot negates cueDone and cueFixed.
	cueNot
	// cueNext is something still to be done.
	cueNext
	// cueBlocked is an obstacle.
	cueBlocked
	// cueFinding is a statement worth keeping.
	cueFinding
	// cueNarrates is an agent's announcement of its next step.
	cueNarrates
	// cueAsks is a request, with or without a question mark.
	cueAsks
)

// phrase is a sequence of words that suggests a cue.
type phrase struct {
	// rest are the words after the first one.
	rest []string
	cue  cue
	// opening says that the phrase counts only at the beginning of a clause, where a verb is an imperative.
	opening bool
	// unless are words directly before the phrase that cancel it.
	unless []string
}

// anyWord in a phrase matches any word of the same clause.
const anyWord = "*"

// subjects are words after which "never", "always" and the like describe something instead of giving a rule.
var subjects = []string{
	"i", "it", "that", "this", "he", "she", "they", "has", "have", "had", "was", "were", "which", "is", "are", "almost",
	"nearly", "not", "isn't", "doesn't",
}

// phrases are the English phrases, by their first word. They keep apostrophes; typographic ones count as plain ones.
var phrases = compile([]struct {
	cue     cue
	opening bool
	unless  []string
	phrases []string
}{
	{cueMust, false, nil, []string{
		"must", "mustn't", "mandatory", "forbidden", "prohibited", "prohibit", "not allowed", "isn't allowed",
		"aren't allowed", "no exceptions", "under no circumstances", "under any circumstances", "make sure", "be sure to",
		"be careful", "at all costs", "off limits", "off-limits", "hands off", "non-negotiable", "from now on",
		"remember to", "should not", "shouldn't", "should never", "should always", "should only", "you cannot", "you can't",
		"you may not", "we cannot", "we can't", "shall", "refuse to", "do not want", "don't want", "don't ever",
		"strictly", "essential", "crucial", "vital", "imperative", "whatever happens", "ask me", "ask first", "check with me", "confirm with me", "wait for my", "needs my", "has to", "have to stay", "has to stay", "need to stay", "needs to stay", "is required", "are required",
		"requirement", "hard rule", "no matter what", "without my", "without asking", "without approval", "without permission",
	}},
	{cueMust, false, subjects, []string{"never", "always"}},
	{cueMust, true, nil, []string{
		"do not", "don't", "dont", "ensure", "avoid", "cannot", "can't", "remember", "important", "keep in mind", "under no",
		"required", "stop doing", "stop using", "refrain",
	}},
	{cueMust, false, nil, []string{
		"may not", "can't be", "cannot be", "can not be", "must be", "let's not", "nobody", "no one", "nothing may", "nothing is to", "at all times",
		"at any time", "is not to be", "are not to be", "not permitted", "isn't permitted", "no longer allowed", "is a must", "deal breaker",
	}},
	{cuePrefer, false, []string{"i", "it", "has", "have", "had", "was", "were", "that", "he", "she", "they"}, []string{"never", "always"}},
	{cueSoft, false, nil, []string{
		"have to be", "has to be", "everywhere", "throughout", "across the board", "before committing", "before you", "before each", "before every",
		"before merging", "before pushing", "after each", "after every", "each time", "every time", "whenever", "belongs in", "belong in", "goes through",
		"go through", "dislike", "dislikes", "hate", "hates", "do not like", "don't like", "not a fan", "big fan", "compatibility", "compatible", "conventions",
		"naming convention", "style guide", "code style", "is fine as long as", "as long as", "or later", "or newer", "and later", "up to date with",
	}},
	{cueSoft, true, nil, []string{
		"not", "no *", "every", "each", "all", "none of", "any", "be *", "skip", "do all", "nothing", "write in", "speak", "respond", "reply",
		"name all", "put all", "work on", "work in", "stop", "sign",
	}},
	{cuePrefer, false, nil, []string{
		"rather than", "prefer", "prefers", "preferred", "preferably", "preference", "stick to", "stick with", "no more than", "no longer than",
		"no less than", "not more than", "at most", "at least", "i'd rather", "i would rather", "whenever possible", "if possible", "where possible",
		"wherever possible", "unless", "nothing but", "limited to", "as a rule", "please use", "before committing", "before merging", "before pushing",
		"across the board", "dislike", "dislikes", "hate", "hates", "not a fan", "as long as",
	}},
	{cuePrefer, true, nil, []string{
		"only", "keep", "use", "no new", "no more", "no additional", "no external", "no extra", "no other", "no emojis", "no emoji", "no mocks",
		"no comments", "no abbreviations", "no third-party", "no global", "no hardcoded", "no hard-coded", "leave", "follow", "respect", "limit", "write all", "answer in", "reply in", "respond in",
		"stay", "treat", "restrict",
	}},
	{cueSoft, false, nil, []string{
		"instead of", "by default", "i like", "i'd like", "i would like", "favor", "favour", "only", "we want", "ideally",
	}},
	{cueSoft, false, nil, []string{
		"should", "i want", "needs to be", "need to be", "needs to", "need to", "needs a", "need a", "expected to", "without", "have to", "every", "each",
		"all of", "spelling", "style", "wants", "likes",
	}},
	{cueAsks, false, nil, []string{"make sure", "please"}},

	{cueDecided, false, nil, []string{
		"decided", "decision", "going with", "go with", "went with", "chose", "chosen", "opted", "opting", "settled on",
		"agreed on", "agreed to", "we agreed", "picked", "verdict", "conclusion", "ruled out", "we'll go", "resolved to",
	}},
	{cueWeighed, false, nil, []string{
		"instead of", "rather than", "we'll use", "we will use", "will use", "switch to", "switched to", "switching to",
		"trade-off", "tradeoff", "the plan is", "let's use", "let's go", "choose", "choosing", "simplest", "cleaner",
		"better to", "best option", "in favor of", "in favour of",
	}},
	{cueWhy, false, nil, []string{
		"because", "since", "so that", "due to", "the reason", "reason is", "this way", "this avoids", "which avoids", "as it", "otherwise",
		"this keeps", "that way", "reason:", "why:",
	}},

	{cueDone, true, nil, []string{
		"done", "fixed", "added", "implemented", "created", "updated", "removed", "renamed", "refactored", "completed",
		"finished", "committed", "pushed", "merged", "deployed", "migrated", "installed", "wrote", "verified", "changed",
		"moved", "replaced", "resolved", "rewrote", "extracted", "reverted", "released", "published", "deleted", "upgraded",
	}},
	{cueDone, false, nil, []string{
		"i've", "i have added", "i have fixed", "i have updated", "i have created", "i have implemented", "we've", "i added",
		"i fixed", "i created", "i changed", "i updated", "i removed", "i renamed", "i replaced", "i moved", "i wrote", "i booked", "i cancelled",
		"now works", "works now", "tests pass", "test passes", "all pass", "all passing", "tests are passing", "build succeeded", "build passes", "has been",
		"have been", "is complete", "are complete", "is done", "successfully", "is fixed", "is green",
	}},
	{cueFixed, false, nil, []string{
		"fixed", "resolved", "solved", "works now", "now works", "gone", "no longer fails", "no longer", "passes now", "now passes",
		"is fine now", "cleared up",
	}},
	{cueNot, false, nil, []string{
		"not", "isn't", "wasn't", "hasn't", "still", "never", "cannot", "can't", "yet to", "should be fixed", "to be fixed", "once",
		"unresolved", "unsolved",
	}},
	{cueNext, false, nil, []string{
		"next step", "next steps", "next up", "remaining", "to-do", "still need", "still needs", "still have to", "left to do",
		"follow-up", "follow up", "not yet", "yet to be", "next is", "next i", "next we", "next comes", "next on", "what's left", "outstanding", "pick up",
	}},
	{cueNext, true, nil, []string{"todo", "after that i", "after that we"}},
	{cueBlocked, false, nil, []string{
		"blocked by", "blocked on", "is blocked", "am blocked", "waiting for", "waiting on", "cannot proceed", "can't proceed",
		"cannot continue", "can't continue", "blocker", "stuck on", "no access to", "still fails", "still failing", "still broken",
	}},
	{cueFinding, false, nil, []string{
		"root cause", "the issue", "the problem", "the bug", "turns out", "found", "note that", "note", "caused by", "because",
		"means that", "this means", "listens on", "lives in", "located", "endpoint", "set to", "version", "port", "error code", "the reason",
		"the culprit", "the cause", "responsible for", "depends on", "expects", "requires", "returns", "key insight", "the key",
		"stored in", "defined in", "comes from", "at line", "ticket", "account", "password", "secret", "credential", "confirmed", "is now", "are now", "observed", "measured",
		"fails with", "failed with", "limit of", "deadline", "id is", "number is", "hash", "commit", "branch", "staging", "production",
	}},
	{cueNarrates, true, nil, []string{
		"let me", "i'll", "i will", "i'm going to", "now i", "let's", "i need to", "now let", "next i'll", "first i'll", "i should",
		"i'm now", "looking at", "checking", "now", "good", "great", "perfect", "excellent", "sure", "okay", "ok", "i am going to", "i can",
	}},
})

// glue are words after which a clause may begin with a verb.
var glue = map[string]bool{
	"please": true, "and": true, "but": true, "so": true, "just": true, "also": true, "then": true, "or": true, "to": true,
	"always": true, "kindly": true, "should": true, "must": true, "that": true,
}

func compile(groups []struct {
	cue     cue
	opening bool
	unless  []string
	phrases []string
},
) map[string][]phrase {
	byWord := map[string][]phrase{}
	var words wordScanner
	for _, g := range groups {
		for _, text := range g.phrases {
			words.scan(text)
			first := words.word(0)
			var rest []string
			for i := 1; i < len(words.spans); i++ {
				rest = append(rest, words.word(i))
			}
			if strings.HasSuffix(text, anyWord) {
				rest = append(rest, anyWord)
			}
			byWord[first] = append(byWord[first], phrase{rest: rest, cue: g.cue, opening: g.opening, unless: g.unless})
		}
	}
	return byWord
}

// wordScanner splits sentences into words. It reuses its memory for the next sentence.
type wordScanner struct {
	lower []byte
	spans []wordSpan
}

type wordSpan struct {
	start, end int
	// opens says that a clause begins before the word.
	opens bool
}

func (w *wordScanner) word(i int) string { return string(w.lower[w.spans[i].start:w.spans[i].end]) }

// scan reads the words of a sentence: runs of Latin letters, digits, hyphens and apostrophes, in lower case.
func (w *wordScanner) scan(s string) {
	w.lower, w.spans = w.lower[:0], w.spans[:0]
	opens, start := true, -1
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2] == 0x99 {
			// The typographic apostrophe.
			b = '\''
			i += 2
		}
		switch {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || start >= 0 && (b == '\'' || b == '-' || b == '_'):
			if start < 0 {
				start = len(w.lower)
				// People leave out full stops; a capital letter then begins a clause.
				opens = opens || s[i] < 'a' && s[i] >= 'A' && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z'
			}
			w.lower = append(w.lower, b)
			continue
		}
		if start >= 0 {
			w.spans = append(w.spans, wordSpan{start, len(w.lower), opens})
			opens, start = false, -1
		}
		switch b {
		case ' ', '\t', '`', '*', '"', '\'', '[', ']':
		default:
			opens = opens || b != '/' && b != '_' && b != '.' || b == '.' && i+1 < len(s) && s[i+1] == ' '
		}
	}
	if start >= 0 {
		w.spans = append(w.spans, wordSpan{start, len(w.lower), opens})
	}
}

// cueReader finds cues. It reuses its memory for the next sentence.
type cueReader struct {
	words wordScanner
}

// read returns the cues of a sentence.
func (c *cueReader) read(sentence string) cue {
	found := c.english(sentence)
	if n := len(c.words.spans); n > 2 && c.words.word(n-1) == "only" {
		// "Comments in English only."
		found |= cuePrefer
	}
	for i := 0; i < len(sentence); i++ {
		if sentence[i] >= 0xE3 {
			return found | ideographicCues(sentence[i:])
		}
	}
	return found
}

func (c *cueReader) english(sentence string) cue {
	w := &c.words
	w.scan(sentence)
	var found cue
	for i, span := range w.spans {
		candidates := phrases[string(w.lower[span.start:span.end])]
		for k := range candidates {
			p := &candidates[k]
			if found&p.cue == p.cue || len(p.rest) > len(w.spans)-i-1 {
				continue
			}
			if c.matches(i, p) {
				found |= p.cue
			}
		}
	}
	return found
}

func (c *cueReader) matches(i int, p *phrase) bool {
	w := &c.words
	for k, want := range p.rest {
		span := w.spans[i+1+k]
		if want == anyWord {
			// A word of the same clause.
			if span.opens {
				return false
			}
			continue
		}
		if string(w.lower[span.start:span.end]) != want {
			return false
		}
	}
	if p.opening && !w.spans[i].opens && (i == 0 || !glue[w.word(i-1)]) {
		return false
	}
	if p.unless != nil && i > 0 && !w.spans[i].opens {
		before := w.spans[i-1]
		for _, u := range p.unless {
			if string(w.lower[before.start:before.end]) == u {
				return false
			}
		}
	}
	return true
}

// ideographs are the phrases of scripts without spaces, by their first character.
var ideographs = compileIdeographs(map[cue][]string{
	cueMust: {
		"必须", "必需", "不要", "禁止", "务必", "请勿", "切勿", "严禁", "绝不", "绝对不", "不可", "不能", "不允许", "不许",
		"只能", "总是", "始终", "一律", "不准", "不得", "一定要", "只允许", "仅限", "千万别", "别动", "别改", "别碰", "别用", "别删", "别再", "别把",
		"不应", "不应该", "确保", "不可以", "记得", "牢记", "先问我", "要先问", "先征得", "我同意", "先跟我", "永远", "从现在起", "从今以后", "无论如何", "必ず", "絶対に", "しないで", "ないでください",
		"てはいけ", "반드시", "절대", "하지 마", "금지", "必須", "請勿", "務必", "絕不", "只可", "勿",
	},
	cuePrefer: {
		"优先", "尽量", "最好", "偏好", "首选", "更喜欢", "倾向", "避免", "除非", "不超过", "至少", "最多", "默认", "统一用", "统一使用", "只用", "仅用",
		"保持", "而不是", "不用", "请使用", "请用", "用中文", "用英文", "沿用", "習慣", "习惯", "優先", "儘量", "なるべく", "できれば", "가급적", "保留",
		"不低于", "不高于", "不大于", "不小于", "不多于", "不少于", "每次", "每个", "所有", "全部用", "要用", "都用", "都要", "都得", "统一", "不喜欢", "讨厌", "只改", "只在", "只做",
		"只修", "只加", "只读", "只看", "只写", "只需", "尽可能", "之前先", "前先", "前必", "驼峰", "缩进", "规范", "命名", "风格", "兼容",
	},
	cueSoft:    {"应该", "应当", "希望", "需要", "建议", "要求", "注意", "應該"},
	cueAsks:    {"请", "麻烦"},
	cueDecided: {"决定", "选择了", "选定", "选用", "敲定", "定为", "最终方案", "结论", "商定", "一致同意", "就用", "決定", "拍板", "否决", "放弃了", "결정"},
	cueWeighed: {"采用", "改用", "方案", "而不是", "改为", "选择", "放弃", "采纳", "権衡", "权衡"},
	cueWhy:     {"因为", "由于", "原因", "以便", "这样", "从而", "否则", "理由", "因為", "ため", "때문"},
	cueDone: {
		"已完成", "完成了", "已修复", "修复了", "已添加", "添加了", "新增了", "已更新", "更新了", "已提交", "已推送", "已删除", "已创建", "创建了", "实现了",
		"已实现", "通过了", "全部通过", "搞定", "已改", "改好", "已经", "成功", "修改了", "完了", "완료",
	},
	cueFixed:   {"已修复", "修复了", "解决了", "已解决", "修好", "不再", "已消除", "恢复正常"},
	cueNot:     {"未", "没有", "尚", "仍", "还没", "不是"},
	cueNext:    {"下一步", "接下来", "还需要", "待办", "剩下", "尚未", "还没", "后续", "稍后", "之后再", "还要", "仍需", "未完成", "次は", "다음"},
	cueBlocked: {"阻塞", "卡在", "无法继续", "等待", "仍然失败", "依然失败", "还是失败", "无权", "没有权限"},
	cueFinding: {
		"原因", "根因", "问题是", "问题在", "发现", "注意", "位于", "端口", "版本", "地址", "因为", "由于", "报错", "错误码", "错误代码", "说明", "定位到", "返回",
		"编号", "工单", "账号", "配置", "接口", "实测", "确认", "分支", "超时", "依赖",
	},
	cueNarrates: {"让我", "我来", "我先", "现在我", "我将", "我会", "好的", "首先"},
})

type ideograph struct {
	text string
	cue  cue
}

func compileIdeographs(groups map[cue][]string) map[rune][]ideograph {
	byRune := map[rune][]ideograph{}
	for c, texts := range groups {
		for _, text := range texts {
			r, _ := utf8.DecodeRuneInString(text)
			byRune[r] = append(byRune[r], ideograph{text, c})
		}
	}
	return byRune
}

func ideographicCues(s string) cue {
	var found cue
	for i, r := range s {
		if r < 0x2E80 {
			continue
		}
		for _, g := range ideographs[r] {
			if found&g.cue == 0 && len(s)-i >= len(g.text) && s[i:i+len(g.text)] == g.text {
				found |= g.cue
			}
		}
	}
	return found
}
