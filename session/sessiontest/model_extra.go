package sessiontest

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// ExtraBlocks returns what a view shows of the context blocks of its request, after everything else. CHARS4 counts them.
func (m *Model) ExtraBlocks(given []*compactordv1.ContextBlock) []*compactordv1.ViewMessage {
	left := -1
	if most := int(m.Policy.GetContextBlocks().GetMaxTokens()); most > 0 {
		left = most
		for _, place := range []compactordv1.BlockPlace{
			compactordv1.BlockPlace_BLOCK_PLACE_LEADING, compactordv1.BlockPlace_BLOCK_PLACE_LATEST,
		} {
			for _, vm := range m.blocks(place) {
				left = max(left-int(vm.GetTokens()), 0)
			}
		}
	}
	shown := make([]*compactordv1.ViewMessage, len(given))
	for priority := 1000; priority >= 0; priority-- {
		for i, b := range given {
			if int(b.GetPriority()) == priority {
				shown[i], left = m.extraBlock(b, left)
			}
		}
	}
	return shown
}

// extraBlock returns what a view shows of one, and what is left of the tokens for the next; -1 where there is no limit.
func (m *Model) extraBlock(b *compactordv1.ContextBlock, left int) (*compactordv1.ViewMessage, int) {
	whole := int(m.tokens(blockMessage(b, b.GetParts(), "")))
	limit := whole
	if own := int(b.GetMaxTokens()); own > 0 {
		limit = min(limit, own)
	}
	if left >= 0 {
		limit = min(limit, left)
		left -= limit
	}
	if limit == whole {
		limit = -1
	}
	message, cut := m.cutBlock(Block{Content: b, Limit: limit}, wording.CutExtraBlock)
	return m.shown(message, &compactordv1.ViewMessage{Origin: &compactordv1.ViewMessage_ContextBlock{
		ContextBlock: &compactordv1.ShownBlock{Name: b.GetName(), Cut: cut, Extra: true},
	}}), left
}
