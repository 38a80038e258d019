package sessiontest

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// Block is a context block in force.
type Block struct {
	Content  *compactordv1.ContextBlock
	Sequence uint32
	// TurnsLeft is how many more turns can begin before the one that removes it; -1 where there is no limit.
	TurnsLeft int
	// Limit is the most tokens that views show of it; -1 where they show it whole.
	Limit int
}

// contextAt is what is in force at a point beside messages.
type contextAt struct {
	blocks []Block
	// instructions are in force where set is true, in place of the first messages of the log.
	set          bool
	instructions []*compactordv1.Message
	sequence     uint32
	replaced     uint32
	// expired is the newest message with which a block's last turn ended; 0 where there is none.
	expired uint32
}

// contextAt computes it from the whole log.
func (l *Log) contextAt(point uint32) contextAt {
	var c contextAt
	for _, sequence := range l.contextPath(point) {
		item := l.Items[sequence]
		switch {
		case item.Message != nil:
			c.turn(item.Message, sequence)
		case item.Record.GetContextBlocks() != nil:
			c.change(item.Record.GetContextBlocks(), sequence)
			c.limit(l.PolicyAt(sequence))
		case item.Record.GetInstructions() != nil:
			change := item.Record.GetInstructions()
			c.set, c.instructions, c.sequence, c.replaced = true, change.GetMessages(), sequence, change.GetReplaced()
		case item.Record.GetPolicyChange() != nil && sequence > 0:
			before, after := l.PolicyAt(sequence-1), l.PolicyAt(sequence)
			if before.GetContextBlocks().GetMaxTokens() != after.GetContextBlocks().GetMaxTokens() {
				c.limit(after)
			}
		}
	}
	return c
}

// contextPath returns the sequences that lead to what is in force at a point.
func (l *Log) contextPath(point uint32) []uint32 {
	var path []uint32
	for at := int(point); at >= 0; at-- {
		if revert := l.Items[at].Record.GetRevert(); revert != nil && !revert.GetKeepsContext() {
			at = int(revert.GetPoint()) + 1
			continue
		}
		path = append(path, uint32(at))
	}
	slices.Reverse(path)
	return path
}

func (c *contextAt) turn(message *compactordv1.Message, sequence uint32) {
	if !session.StartsTurn(message) {
		return
	}
	var stay []Block
	for _, b := range c.blocks {
		switch {
		case b.TurnsLeft == 0:
			c.expired = sequence
			continue
		case b.TurnsLeft > 0:
			b.TurnsLeft--
		}
		stay = append(stay, b)
	}
	c.blocks = stay
}

func (c *contextAt) change(change *compactordv1.ContextBlockChange, sequence uint32) {
	named := func(name string) int {
		return slices.IndexFunc(c.blocks, func(b Block) bool { return b.Content.GetName() == name })
	}
	c.blocks = slices.Clone(c.blocks)
	for _, name := range change.GetRemoved() {
		if at := named(name); at >= 0 {
			c.blocks = slices.Delete(c.blocks, at, at+1)
		}
	}
	for _, set := range change.GetSet() {
		b := Block{Content: set, Sequence: sequence, TurnsLeft: -1}
		if set.GetTurns() > 0 {
			b.TurnsLeft = int(set.GetTurns())
		}
		if at := named(set.GetName()); at >= 0 {
			c.blocks[at] = b
		} else {
			c.blocks = append(c.blocks, b)
		}
	}
}

// limit hands out the policy's tokens, by priority and then by the order in which the blocks were first set.
func (c *contextAt) limit(p *compactordv1.Policy) {
	c.blocks = slices.Clone(c.blocks)
	left := int(p.GetContextBlocks().GetMaxTokens())
	bounded := left > 0
	for priority := 1000; priority >= 0; priority-- {
		for i, b := range c.blocks {
			if int(b.Content.GetPriority()) != priority {
				continue
			}
			shown := int(b.Content.GetTokens())
			if own := int(b.Content.GetMaxTokens()); own > 0 && own < shown {
				shown = own
			}
			if bounded && shown > left {
				shown = left
			}
			left -= shown
			c.blocks[i].Limit = -1
			if shown < int(b.Content.GetTokens()) {
				c.blocks[i].Limit = shown
			}
		}
	}
}

// silence takes the operator's voice from all blocks where the policy does not allow it.
func (c *contextAt) silence(p *compactordv1.Policy) {
	for i, b := range c.blocks {
		if b.Content.GetOperator() && !p.GetContextBlocks().GetAllowOperator() {
			c.blocks[i].Content = proto.CloneOf(b.Content)
			c.blocks[i].Content.Operator = false
		}
	}
}

// blocks returns the messages that show the context blocks of a place: first those with the operator's voice.
func (m *Model) blocks(place compactordv1.BlockPlace) []*compactordv1.ViewMessage {
	var operators, others []*compactordv1.ViewMessage
	for _, b := range m.context.blocks {
		at := b.Content.GetPlace()
		if at == compactordv1.BlockPlace_BLOCK_PLACE_UNSPECIFIED {
			at = compactordv1.BlockPlace_BLOCK_PLACE_LATEST
		}
		if at != place {
			continue
		}
		message, cut := m.blockMessage(b)
		vm := m.shown(message, &compactordv1.ViewMessage{Origin: &compactordv1.ViewMessage_ContextBlock{
			ContextBlock: &compactordv1.ShownBlock{Name: b.Content.GetName(), Place: place, Cut: cut},
		}})
		if b.Content.GetOperator() {
			operators = append(operators, vm)
		} else {
			others = append(others, vm)
		}
	}
	return append(operators, others...)
}

// blockMessage shows as many parts as fit, then as many characters as fit of a text that does not.
func (m *Model) blockMessage(b Block) (*compactordv1.Message, bool) {
	return m.cutBlock(b, wording.BlockReference(b.Content.GetName()))
}

// cutBlock is blockMessage with the words that stand for the rest.
func (m *Model) cutBlock(b Block, reference string) (*compactordv1.Message, bool) {
	parts := b.Content.GetParts()
	whole := blockMessage(b.Content, parts, "")
	if b.Limit < 0 {
		return whole, false
	}
	if session.Exact(m.log.Estimator) {
		// By a vocabulary a longer text can have fewer tokens, so that several beginnings are the longest one around.
		return session.BlockMessage(m.counter, b.Content, uint32(b.Limit))
	}
	if cut := m.longestFit(b, reference); m.tokens(cut) < m.tokens(whole) {
		return cut, true
	}
	return whole, false
}

// longestFit returns the longest beginning of a block that fits its limit with the words that stand for the rest.
func (m *Model) longestFit(b Block, reference string) *compactordv1.Message {
	parts := b.Content.GetParts()
	best := blockMessage(b.Content, nil, reference)
	for i, p := range parts {
		if text := []rune(p.GetText().GetText()); p.GetText() != nil {
			for n := 1; n <= len(text); n++ {
				shown := append(slices.Clone(parts[:i]), session.TextPart(string(text[:n])))
				if candidate := blockMessage(b.Content, shown, reference); int(m.tokens(candidate)) <= b.Limit {
					best = candidate
				} else {
					return best
				}
			}
		}
		candidate := blockMessage(b.Content, parts[:i+1], reference)
		if int(m.tokens(candidate)) > b.Limit {
			return best
		}
		best = candidate
	}
	return best
}

func blockMessage(b *compactordv1.ContextBlock, parts []*compactordv1.Part, end string) *compactordv1.Message {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER}
	if b.GetOperator() {
		m.Role = compactordv1.Role_ROLE_SYSTEM
	}
	words := wording.BlockOpening(b.GetName(), b.GetOperator())
	for i, p := range parts {
		switch {
		case p.GetMedia() != nil:
			m.Parts = append(m.Parts, text(words), p)
			words = ""
		case i > 0 && parts[i-1].GetText() != nil:
			words += "\n" + wording.BlockText(p.GetText().GetText())
		default:
			words += wording.BlockText(p.GetText().GetText())
		}
	}
	if len(parts) == 0 && end != "" {
		end = end[1:]
	}
	m.Parts = append(m.Parts, text(words+end+wording.BlockClosing))
	return m
}

// latestBefore returns the kept message that the LATEST blocks come before; nil where they are the end of the view.
func (m *Model) latestBefore() *Active {
	kept := m.Kept()
	for _, a := range slices.Backward(kept) {
		if session.StartsTurn(a.Message) {
			return a
		}
	}
	if len(kept) > 0 {
		return kept[0]
	}
	return nil
}

// shownLead returns the instructions in force, and the leading messages that they do not replace.
func (m *Model) shownLead() (instructions []*compactordv1.ViewMessage, lead []*Active) {
	for _, message := range m.context.instructions {
		instructions = append(instructions, m.shown(message, &compactordv1.ViewMessage{
			Origin: &compactordv1.ViewMessage_Instructions{Instructions: m.context.sequence},
		}))
	}
	for _, a := range m.Lead() {
		if a.Index >= m.context.replaced {
			lead = append(lead, a)
		}
	}
	return instructions, lead
}

// Replaced reports whether instructions replace a leading message.
func (m *Model) Replaced(a *Active) bool { return a.Index < m.context.replaced }

// CanMoveBlocks reports whether the message with this sequence can move context blocks in views, or end their last turn.
func (l *Log) CanMoveBlocks(sequence uint32) bool {
	message := l.Items[sequence].Message
	return message != nil && (session.StartsTurn(message) || session.Leads(message.GetRole())) &&
		len(l.contextAt(sequence-1).blocks) > 0
}
