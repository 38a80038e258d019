package extractive

import "strings"

// substance says how much of a task a user's message contains.
type substance uint8

const (
	// nod is an approval, thanks, or a single word. It says nothing without the message that it answers.
	nod substance = iota
	// reply answers or asks something, but is not a task.
	reply
	// task says what the agent should do, or what is wrong.
	task
)

// substanceOf rates a user's message, given as one line.
func (c *cueReader) substanceOf(text string) substance {
	if said, _, answers := strings.Cut(text, answering); answers {
		if onlyAnswers(said) {
			return nod
		}
		text = said
	}
	text = ownWords(text)
	nodded, content, strongest := false, 0, nod
	questions, statements, empty := 0, 0, true
	eachStatement(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), never, func(st statement) {
		empty = false
		said, nods := afterNods(st.text)
		nodded = nodded || nods
		n := contentUpTo(said, 6)
		if n == 0 {
			return
		}
		content += n
		statements++
		found := c.read(said)
		switch {
		case isMark(said), goesOn(said):
		case n > 1 && opensTask(said) || requests(said):
			strongest = task
		case asks(said) || opensQuestion(said) || wonders(said):
			questions++
		case n >= 6 && found&(cueMust|cuePrefer) == 0:
			strongest = task
		}
	})
	switch {
	case empty && isShortData(text):
		return reply
	case content < 2:
		return nod
	case strongest == task:
		return task
	case nodded || questions == statements:
		return reply
	default:
		return task
	}
}

// isShortData says whether a message without sentences is a short table or code, which its author typed and did not paste.
func isShortData(text string) bool {
	return units(text) <= maxSaid && contentUpTo(text, 2) == 2
}

// ordersIn says whether a text asks for something, and not only in a rule that holds for longer.
func (c *cueReader) ordersIn(text string) bool {
	orders := false
	eachStatement(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), never, func(st statement) {
		orders = orders || contentUpTo(st.text, 2) > 1 && (opensTask(st.text) || requests(st.text) && !goesOn(st.text)) && c.read(st.text)&cueMust == 0
	})
	return orders
}

func never(string) bool { return false }

// isMark says whether a statement is only a tag or a marker for a program.
func isMark(s string) bool {
	return strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") && !strings.Contains(s, " ") || strings.HasPrefix(s, "###") && strings.HasSuffix(s, "###")
}

// goesOn says whether a sentence only tells the agent to continue, announces what the user will do, or is conditional.
func goesOn(s string) bool {
	for _, polite := range []string{"please ", "and ", "so ", "then ", "just "} {
		if hasPrefixAnyCase(s, polite) {
			s = s[len(polite):]
		}
	}
	for _, opening := range []string{
		"go ahead", "go on", "continue", "proceed", "carry on", "keep going", "keep working", "i'll ", "i’ll ", "i will ", "once i ", "i appreciate", "i really appreciate",
		"i apologize", "i'm sorry", "sorry", "if ",
	} {
		if hasPrefixAnyCase(s, opening) {
			return true
		}
	}
	return false
}

// requests says whether a sentence asks for something to be done, even if it does not begin with a verb for that.
func requests(s string) bool {
	for _, opening := range []string{
		"can you ", "could you ", "would you ", "will you ", "can we ", "could we ", "why don't you ", "why don't we ", "i want you to ", "i'd like you to ", "i need you to ",
		"i'd like to ", "i want to ", "i need to ", "we need to ", "we should ", "we have to ", "help me ", "let's ", "lets ", "your task ", "your job ", "the task ",
	} {
		if hasPrefixAnyCase(s, opening) {
			return true
		}
	}
	for _, within := range []string{", can you ", ", could you ", " please ", "can you please ", "your task is ", "i'd like to ", "i need to ", "i need you to "} {
		if containsAnyCase(s, within) {
			return true
		}
	}
	for _, opening := range []string{
		"阅读", "更新", "检查", "生成", "部署", "运行", "回到", "切换", "安装", "整理", "重构", "完成", "处理", "分析", "解释", "总结", "翻译", "设计", "提交", "合并", "推送", "测试",
	} {
		if strings.HasPrefix(s, opening) {
			return true
		}
	}
	for _, within := range []string{"能不能", "能否", "可不可以", "可否", "是否可以", "帮我", "帮忙", "麻烦", "请", "我想", "我要", "我需要", "我希望"} {
		if strings.Contains(s, within) {
			return true
		}
	}
	return false
}

// wonders says whether a Chinese sentence is a question, which people often write without a question mark.
func wonders(s string) bool {
	for _, word := range []string{"谁", "什么", "怎么", "如何", "哪", "是不是", "有没有", "多少"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}
