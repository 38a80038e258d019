package prompts

import (
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// How the tokens that the instructions leave are shared out. What is not taken goes to the conversation.
const (
	// focusShare, contextShare and rulesShare are the most that each may take of them, as one of so many parts.
	focusShare   = 8
	contextShare = 8
	rulesShare   = 8
	// answerShare is what an answer may take of what is left then, and previousShare a previous summary.
	answerShare   = 4
	previousShare = 2
	// maxRules is the most that the agent's own rules take: they are there to be understood, and are shown with each part.
	maxRules = 4000
	// seams are what may be counted where two texts meet.
	seams = 16
)

// frame is what the prompts of a request have in common.
type frame struct {
	req    *summarizers.Request
	count  func(string) uint32
	system string
	// head begins the conversation, and context and focus stand around the instructions.
	head, context, focus string
	previous             string
	// result is the tool result of an Observation, with its task and guidelines.
	result string
	// budget is that of an answer.
	budget uint32
	// systemTokens is what the system prompt counts, free what is left for previous summary and conversation,
	// previousTokens what the previous summary counts, and answerReserve what is kept free for an answer.
	systemTokens, free, previousTokens, answerReserve uint32
}

func newFrame(req *summarizers.Request, s *scribe, limits Limits) (*frame, error) {
	f := &frame{req: req, count: limits.Count, system: system(req.Kind)}
	f.systemTokens = f.count(f.system)
	f.budget = min(req.MaxTokens, max(limits.PromptTokens/answerShare, minBudget))
	if req.Kind == summarizers.Observation {
		f.budget = req.TextTokens()
	}
	taken := uint64(f.systemTokens) + uint64(f.instructionTokens()) + uint64(f.count(f.shell())) + seams
	if taken+2*minBudget > uint64(limits.PromptTokens) {
		return nil, ErrTooLarge
	}
	f.free = limits.PromptTokens - uint32(taken)
	share := f.free
	var focus, context, rules uint32
	f.focus, focus = f.fit(focusOf(s.redact(req.Focus)), share/focusShare, " of the focus", nil)
	if req.Kind == summarizers.Observation {
		f.free -= min(f.free, focus)
		return f, f.observation(s)
	}
	f.context, context = f.contexts(s, share/contextShare)
	if len(req.Messages) > 0 {
		f.head, rules = f.rules(s, min(share/rulesShare, maxRules))
	}
	f.free -= min(f.free, focus+context+rules)
	return f, f.divide(s)
}

// divide shares out what is left between the previous summary, the answers and the conversation.
func (f *frame) divide(s *scribe) error {
	if len(f.req.Messages) == 0 {
		f.previous, f.previousTokens = f.fit(carried(s.redact(f.req.PreviousSummary)), f.free, ofSummary, nil)
		return nil
	}
	f.budget = min(f.budget, max(f.free/answerShare, minBudget))
	// The session may count less than the model does.
	f.answerReserve = min(f.free/previousShare, 2*f.budget+minBudget)
	f.previous, f.previousTokens = f.fit(carried(s.redact(f.req.PreviousSummary)), f.free/previousShare, ofSummary, tellsRule)
	if min(f.conversationBudget(false), f.conversationBudget(true)) < minBudget {
		return ErrTooLarge
	}
	return nil
}

// conversationBudget is what a prompt may take in of the conversation.
func (f *frame) conversationBudget(goesOn bool) uint32 {
	if goesOn {
		return f.free - f.answerReserve
	}
	return f.free - f.previousTokens
}

// instructionTokens is the most that the instructions of a prompt of the request count.
func (f *frame) instructionTokens() uint32 {
	var most uint32
	messages := len(f.req.Messages) > 0
	for _, previous := range []bool{false, true} {
		for _, part := range []bool{false, true} {
			s := situation{previous: previous, messages: messages, part: part && messages, budget: f.budget}
			most = max(most, f.count("\n"+instructions(f.req, s)))
		}
	}
	return most
}

// shell is the tags around what a prompt shows.
func (f *frame) shell() string {
	return tagged(tagConversation, tagged(tagRules, "")+"\n\n") + "\n\n" + tagged(tagPrevious, "") + "\n\n"
}

// fit returns the text cut to at most so many tokens, and what it then counts.
func (f *frame) fit(text string, budget uint32, of string, tells func(string) bool) (string, uint32) {
	if text == "" {
		return "", 0
	}
	c := cutting{of: of, tells: tells}
	text, _ = c.fit(text, budget, f.count)
	return text, f.count(text)
}

// contexts are the further pieces in their tags, each cut to its share of the budget.
func (f *frame) contexts(s *scribe, budget uint32) (text string, tokens uint32) {
	var b strings.Builder
	for i, piece := range f.req.ExtraContext {
		left := budget - min(budget, tokens)
		share := left / uint32(len(f.req.ExtraContext)-i)
		share -= min(share, f.count(contexts([]string{""})))
		if piece, _ = f.fit(s.redact(piece), share, " of this piece", tellsRule); piece == "" {
			continue
		}
		shown := contexts([]string{piece})
		had := f.count(shown)
		if had > left {
			continue
		}
		b.WriteString(shown)
		tokens += had
	}
	return b.String(), tokens
}

// rules are the agent's own rules at the head of the conversation, cut to the budget.
func (f *frame) rules(s *scribe, budget uint32) (text string, tokens uint32) {
	passages := make([]passage, 0, len(f.req.Lead))
	for _, l := range f.req.Lead {
		passages = append(passages, s.passages(l)...)
	}
	if len(passages) == 0 {
		return "", 0
	}
	shown := written(passages)
	if f.count(shown) > budget {
		var ok bool
		if shown, ok = shorten(passages, budget, f.count); !ok {
			return "", 0
		}
	}
	text = tagged(tagRules, strings.TrimSuffix(shown, "\n")) + "\n\n"
	return text, f.count(shown)
}

// prompt is the prompt that shows that part of the conversation.
func (f *frame) prompt(conversation string, goesOn, part bool) *Prompt {
	p := &Prompt{System: f.system, MaxTokens: f.budget, GoesOn: goesOn, count: f.count}
	var head strings.Builder
	messages := len(f.req.Messages) > 0
	if messages {
		head.WriteString(tagged(tagConversation, f.head+strings.TrimSuffix(conversation, "\n")) + "\n\n")
	}
	head.WriteString(f.result)
	tail := f.context + instructions(f.req, situation{
		previous: goesOn || f.previous != "", messages: messages, part: part, budget: f.budget,
	}) + f.focus
	switch {
	case goesOn:
		p.BeforeAnswer = head.String() + "<" + tagPrevious + ">\n"
		p.Text = "\n</" + tagPrevious + ">\n\n" + tail
		p.reserve = f.answerReserve
	case f.previous != "":
		p.Text = head.String() + tagged(tagPrevious, f.previous) + "\n\n" + tail
	default:
		p.Text = head.String() + tail
	}
	p.Tokens = f.systemTokens + f.count(p.BeforeAnswer) + f.count(p.Text)
	return p
}

// shorten writes passages down in at most so many tokens: the longest of them are cut until they fit. It says false where
// not even a mark fits.
func shorten(passages []passage, budget uint32, count func(string) uint32) (string, bool) {
	total := 0
	for _, p := range passages {
		total += units(p.body)
	}
	tokens := count(written(passages))
	for limit := nextLimit(total, tokens, budget); ; {
		shown := written(cutTo(passages, limit))
		tokens = count(shown)
		if tokens <= budget {
			return shown, true
		}
		if limit == 0 {
			break
		}
		limit = nextLimit(limit, tokens, budget)
	}
	// Not even the headers fit: the first stands for all.
	first := passage{header: passages[0].header, body: marked(total, "")}
	shown := written([]passage{first})
	return shown, count(shown) <= budget
}

// cutTo cuts the longest passages until all of them have at most so many UTF-16 code units.
func cutTo(passages []passage, limit int) []passage {
	each := levelOf(passages, limit)
	cut := make([]passage, len(passages))
	for i, p := range passages {
		index, _, _ := strings.Cut(p.header, " ")
		c := cutting{inline: p.inline, of: " of message " + index, tells: tellsErrorOrRule}
		p.body = c.to(p.body, each)
		cut[i] = p
	}
	return cut
}

func tellsErrorOrRule(line string) bool { return tellsError(line) || tellsRule(line) }

// levelOf is the length that none may pass where all together have at most so many units.
func levelOf(passages []passage, limit int) int {
	lengths := make([]int, len(passages))
	for i, p := range passages {
		lengths[i] = units(p.body)
	}
	low, high := 0, limit
	for low < high {
		level := (low + high + 1) / 2
		sum := 0
		for _, n := range lengths {
			sum += min(n, level)
		}
		if sum <= limit {
			low = level
		} else {
			high = level - 1
		}
	}
	return low
}
