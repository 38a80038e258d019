package dialecttest

import (
	"slices"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

// Generator draws histories as views have them: every call is followed by its result, though not always directly.
// Contents and ids are those that providers and clients are known to fail on.
type Generator struct {
	// Counts counts what was made.
	Counts sessiontest.Counts

	messages []*compactordv1.Message
	// used are the ids of calls so far.
	used map[string]bool
}

// NewGenerator returns a generator with an empty history, which adds to counts.
func NewGenerator(counts sessiontest.Counts) *Generator {
	return &Generator{Counts: counts, used: make(map[string]bool)}
}

func (g *Generator) count(class sessiontest.Class, yes bool) {
	if yes {
		g.Counts[class]++
	}
}

func (g *Generator) add(m *compactordv1.Message) { g.messages = append(g.messages, m) }

// History draws a history of at most about a dozen exchanges.
func (g *Generator) History(t *rapid.T) []*compactordv1.Message {
	g.messages, g.used = nil, make(map[string]bool)
	for range max(0, dice(t, 6)-2) {
		g.add(g.Instruction(t))
	}
	g.summary(t)
	for range dice(t, 8) {
		g.step(t)
	}
	g.countShape()
	return g.messages
}

func (g *Generator) step(t *rapid.T) {
	switch dice(t, 10) {
	case 0, 1, 2:
		g.add(g.User(t))
	case 3, 4:
		g.add(g.Assistant(t))
	case 5:
		g.add(g.Instruction(t))
		g.count(LaterInstruction, !leads(g.messages))
	default:
		for _, m := range g.Exchange(t) {
			g.add(m)
		}
	}
}

// Exchange draws an ASSISTANT message with one to eight calls and their results. The results mostly follow directly, in
// any order, and sometimes with other messages between them.
func (g *Generator) Exchange(t *rapid.T) []*compactordv1.Message { return g.exchange(t, true) }

func (g *Generator) exchange(t *rapid.T, interrupted bool) []*compactordv1.Message {
	calling := g.calling(t)
	messages := []*compactordv1.Message{calling}
	var calls []*compactordv1.ToolCall
	for _, p := range calling.GetParts() {
		if p.GetToolCall() != nil {
			calls = append(calls, p.GetToolCall())
		}
	}
	order := make([]int, len(calls))
	for i := range order {
		order[i] = i
	}
	if chance(t, 40) {
		order = shuffled(t, len(calls))
	}
	g.count(ResultsInOrder, slices.IsSorted(order))
	g.count(ResultsOutOfOrder, !slices.IsSorted(order))
	for _, i := range order {
		if interrupted && chance(t, 6) {
			messages = append(messages, g.interruption(t)...)
		}
		messages = append(messages, g.Result(t, calls[i]))
	}
	return messages
}

// interruption draws messages that a log can have between a call and its result. A view shows a stray result as USER
// text.
func (g *Generator) interruption(t *rapid.T) []*compactordv1.Message {
	g.count(BetweenResults, true)
	switch dice(t, 4) {
	case 0:
		return []*compactordv1.Message{g.Instruction(t)}
	case 1:
		return []*compactordv1.Message{g.User(t)}
	case 2:
		return []*compactordv1.Message{g.Assistant(t)}
	default:
		g.count(CallsInterleaved, true)
		return g.exchange(t, false)
	}
}

func (g *Generator) summary(t *rapid.T) {
	const words = "The conversation until here, in short."
	say := func(role compactordv1.Role) {
		g.add(&compactordv1.Message{Role: role, Parts: []*compactordv1.Part{textPart(words)}})
	}
	switch dice(t, 8) {
	case 5:
		say(compactordv1.Role_ROLE_USER)
		g.count(SummaryUser, true)
	case 6:
		say(compactordv1.Role_ROLE_SYSTEM)
		g.count(SummarySystem, true)
	case 7:
		say(compactordv1.Role_ROLE_USER)
		say(compactordv1.Role_ROLE_ASSISTANT)
		g.count(SummaryPair, true)
	default:
	}
}

func leads(messages []*compactordv1.Message) bool {
	return !slices.ContainsFunc(messages, func(m *compactordv1.Message) bool { return !instructs(m) })
}

func instructs(m *compactordv1.Message) bool {
	return m.GetRole() == compactordv1.Role_ROLE_SYSTEM || m.GetRole() == compactordv1.Role_ROLE_DEVELOPER
}

func (g *Generator) countShape() {
	n := len(g.messages)
	if n == 0 {
		g.count(EmptyHistory, true)
		return
	}
	if first := slices.IndexFunc(g.messages, func(m *compactordv1.Message) bool { return !instructs(m) }); first >= 0 {
		g.count(BeginsAssistant, g.messages[first].GetRole() == compactordv1.Role_ROLE_ASSISTANT)
		next := first + 1
		g.count(BeginsTool, next < n && g.messages[next].GetRole() == compactordv1.Role_ROLE_TOOL)
	}
	last := g.messages[n-1]
	g.count(EndsUser, last.GetRole() == compactordv1.Role_ROLE_USER)
	g.count(EndsTool, last.GetRole() == compactordv1.Role_ROLE_TOOL)
	g.count(EndsAssistant, last.GetRole() == compactordv1.Role_ROLE_ASSISTANT)
	g.count(EndsInstruction, instructs(last))
	for i, m := range g.messages[1:] {
		same := g.messages[i].GetRole() == m.GetRole()
		g.count(UserInARow, same && m.GetRole() == compactordv1.Role_ROLE_USER)
		g.count(AssistantInARow, same && m.GetRole() == compactordv1.Role_ROLE_ASSISTANT)
	}
	for _, m := range g.messages {
		g.count(WithoutParts, len(m.GetParts()) == 0)
		g.count(OnlyBlank, len(m.GetParts()) > 0 && onlyBlank(m))
	}
}
