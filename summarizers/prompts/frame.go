package prompts

import (
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// How the tokens that remain beside the instructions are divided. Tokens that are not used go to the conversation.
const (
	// focus, context and rules each get at most one part in focusShare, contextShare and rulesShare of these tokens.
	focusShare   = 8
	contextShare = 8
	rulesShare   = 8
	// An answer gets at most one part in answerShare of the tokens that remain after that, and a previous summary one
	// in previousShare.
	answerShare   = 4
	previousShare = 2
	// maxRules is the most tokens for the agent's own rules. They only help to understand the conversation, and each
	// prompt repeats them.
	maxRules = 4000
	// seams is how many more tokens joined texts may count than the texts alone.
	seams = 16
)

// frame holds the parts that all prompts of a request share.
type frame struct {
	req    *summarizers.Request
	count  func(string) uint32
	system string
	// head is the beginning of the conversation. context comes before the instructions, and focus after them.
	head, context, focus string
	previous             string
	// result is the tool result of an Observation, and around the task and the guidelines of that or of a Range.
	result, around string
	// budget is the budget of an answer.
	budget uint32
	// The sizes of parts, in tokens: systemTokens of the system prompt, free of what remains for previous summary and
	// conversation, previousTokens of the previous summary, and answerReserve of the space kept for an answer.
	systemTokens, free, previousTokens, answerReserve uint32
}

func newFrame(req *summarizers.Request, mw *messageWriter, limits Limits) (*frame, error) {
	f := &frame{req: req, count: limits.Count, system: system(req.Kind)}
	f.systemTokens = f.count(f.system)
	f.budget = min(req.ModelBudget(), max(limits.PromptTokens/answerShare, minBudget))
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
	f.focus, focus = f.fit(focusOf(mw.redact(req.Focus)), share/focusShare, " of the focus", nil)
	if req.Kind == summarizers.Observation {
		f.free -= min(f.free, focus)
		return f, f.observation(mw)
	}
	if req.Kind == summarizers.Range {
		f.free -= min(f.free, f.surround(mw, req.Task, req.Guidelines))
	}
	f.context, context = f.contexts(mw, share/contextShare)
	if len(req.Messages) > 0 {
		f.head, rules = f.rules(mw, min(share/rulesShare, maxRules))
	}
	f.free -= min(f.free, focus+context+rules)
	return f, f.divide(mw)
}

// divide divides the remaining tokens between the previous summary, the answers and the conversation.
func (f *frame) divide(mw *messageWriter) error {
	if len(f.req.Messages) == 0 {
		f.previous, f.previousTokens = f.fit(carried(mw.redact(f.req.PreviousSummary)), f.free, ofSummary, nil)
		return nil
	}
	f.budget = min(f.budget, max(f.free/answerShare, minBudget))
	// The session may count fewer tokens than the model.
	f.answerReserve = min(f.free/previousShare, 2*f.budget+minBudget)
	f.previous, f.previousTokens = f.fit(carried(mw.redact(f.req.PreviousSummary)), f.free/previousShare, ofSummary, isRuleLine)
	if min(f.conversationBudget(false), f.conversationBudget(true)) < minBudget {
		return ErrTooLarge
	}
	return nil
}

// conversationBudget returns how many tokens of the conversation a prompt may contain.
func (f *frame) conversationBudget(goesOn bool) uint32 {
	if goesOn {
		return f.free - f.answerReserve
	}
	return f.free - f.previousTokens
}

// instructionTokens returns the size of the longest instructions that a prompt of the request may have.
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

// shell returns the tags of a prompt without their contents.
func (f *frame) shell() string {
	return tagged(tagConversation, tagged(tagRules, "")+"\n\n") + "\n\n" + tagged(tagPrevious, "") + "\n\n"
}

// fit returns the text cut to at most budget tokens, and its size after that.
func (f *frame) fit(text string, budget uint32, of string, notable func(string) bool) (string, uint32) {
	if text == "" {
		return "", 0
	}
	c := cutting{of: of, notable: notable}
	text, _ = c.fit(text, budget, f.count)
	return text, f.count(text)
}

// contexts returns the further context in its tags, each piece cut to its share of the budget.
func (f *frame) contexts(mw *messageWriter, budget uint32) (text string, tokens uint32) {
	var b strings.Builder
	for i, piece := range f.req.ExtraContext {
		left := budget - min(budget, tokens)
		share := left / uint32(len(f.req.ExtraContext)-i)
		share -= min(share, f.count(contexts([]string{""})))
		if piece, _ = f.fit(mw.redact(piece), share, " of this piece", isRuleLine); piece == "" {
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

// rules returns the agent's own rules for the head of the conversation, cut to the budget.
func (f *frame) rules(mw *messageWriter, budget uint32) (text string, tokens uint32) {
	passages := make([]passage, 0, len(f.req.Lead)+len(f.req.Beside))
	for _, l := range f.req.Lead {
		passages = append(passages, mw.passages(l)...)
	}
	for _, m := range f.req.Beside {
		passages = append(passages, mw.beside(m)...)
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

// prompt returns the prompt for this part of the conversation.
func (f *frame) prompt(conversation string, goesOn, part bool) *Prompt {
	p := &Prompt{System: f.system, MaxTokens: f.budget, GoesOn: goesOn, count: f.count}
	var head strings.Builder
	messages := len(f.req.Messages) > 0
	if messages {
		head.WriteString(tagged(tagConversation, f.head+strings.TrimSuffix(conversation, "\n")) + "\n\n")
	}
	head.WriteString(f.result + f.around)
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

// shorten returns passages as text of at most budget tokens. It cuts the longest ones until all fit. It returns false
// if even a mark is too long.
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
	// Not even the headers fit, so the first one represents all.
	first := passage{header: passages[0].header, body: marked(total, "")}
	shown := written([]passage{first})
	return shown, count(shown) <= budget
}

// cutTo cuts the longest passages until all together have at most limit UTF-16 code units.
func cutTo(passages []passage, limit int) []passage {
	each := levelOf(passages, limit)
	cut := make([]passage, len(passages))
	for i, p := range passages {
		index, _, _ := strings.Cut(p.header, " ")
		c := cutting{inline: p.inline, of: " of message " + index, notable: isErrorOrRuleLine}
		p.body = c.to(p.body, each)
		cut[i] = p
	}
	return cut
}

func isErrorOrRuleLine(line string) bool { return isErrorLine(line) || isRuleLine(line) }

// levelOf returns the length to which each passage must be cut so that all together have at most limit units.
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
