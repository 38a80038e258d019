package session

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// MaxBlocks is the most context blocks that a session can have.
const MaxBlocks = 64

// BlockPlace returns the place of a context block with its default filled in.
func BlockPlace(b *compactordv1.ContextBlock) compactordv1.BlockPlace {
	if b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_UNSPECIFIED {
		return compactordv1.BlockPlace_BLOCK_PLACE_LATEST
	}
	return b.GetPlace()
}

// LatestPlace returns the index of the message before which views show the LATEST blocks: the USER message that starts
// the newest turn or, where the summary covers it, the first message after the summary. It is the log's next index where
// there is no such message, and the blocks are the end of the view.
func LatestPlace(h *storagev1.Head) uint32 {
	start, _ := ActiveRun(h, max(KeptFrom(h), h.GetTurnStart()))
	return start
}

// placeOf returns the index of the message before which views show a block.
func placeOf(h *storagev1.Head, shown *compactordv1.ShownBlock) uint32 {
	if shown.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING {
		return h.GetLeadEnd()
	}
	return LatestPlace(h)
}

// PlaceAfter returns the place after all that a view shows of a log with so many messages, one or more, as long as it only
// grows.
func PlaceAfter(h *storagev1.Head, nextIndex uint32) Place {
	at := Place{Index: nextIndex}
	for _, b := range h.GetBlocks() {
		leading := b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING
		if leading && h.GetLeadEnd() == nextIndex || !leading && LatestPlace(h) == nextIndex {
			at.Skip++
		}
	}
	return at
}

// HasLatestBlocks reports whether views have LATEST blocks.
func HasLatestBlocks(h *storagev1.Head) bool {
	return hasBlock(h, compactordv1.BlockPlace_BLOCK_PLACE_LATEST)
}

// HasBlockNamed reports whether a block of this name is in force.
func HasBlockNamed(h *storagev1.Head, name string) bool {
	return slices.ContainsFunc(h.GetBlocks(), func(b *storagev1.BlockInForce) bool { return b.GetName() == name })
}

func hasBlock(h *storagev1.Head, place compactordv1.BlockPlace) bool {
	return slices.ContainsFunc(h.GetBlocks(), func(b *storagev1.BlockInForce) bool { return b.GetPlace() == place })
}

// applyBlocks adds a change of context blocks to a head. A block that replaces another one takes its place among the
// blocks, unless views show it elsewhere.
func applyBlocks(h *storagev1.Head, sequence uint32, change *compactordv1.ContextBlockChange) {
	for _, name := range change.GetRemoved() {
		h.Blocks = slices.DeleteFunc(h.GetBlocks(), func(b *storagev1.BlockInForce) bool { return b.GetName() == name })
	}
	for _, set := range change.GetSet() {
		b := &storagev1.BlockInForce{
			Name: set.GetName(), Sequence: sequence, Place: BlockPlace(set), Priority: set.GetPriority(),
			Tokens: set.GetTokens(), MaxTokens: set.GetMaxTokens(),
		}
		if set.GetTurns() > 0 {
			b.TurnsLeft = proto.Uint32(set.GetTurns())
		}
		at := slices.IndexFunc(h.GetBlocks(), func(b *storagev1.BlockInForce) bool { return b.GetName() == set.GetName() })
		if at < 0 {
			h.Blocks = append(h.Blocks, b)
		} else {
			h.Blocks[at] = b
		}
	}
}

// blockLimit returns the most tokens that views show of all context blocks; 0 where there is no limit.
func blockLimit(p *compactordv1.Policy) uint32 { return p.GetContextBlocks().GetMaxTokens() }

// limitBlocks computes how much views show of each context block: at most what the block itself wants, and what the
// policy leaves after the blocks of higher priority. Of those with the same priority, the one set first comes first.
func limitBlocks(h *storagev1.Head, p *compactordv1.Policy) {
	byPriority := slices.Clone(h.GetBlocks())
	slices.SortStableFunc(byPriority, func(a, b *storagev1.BlockInForce) int {
		return cmp.Compare(b.GetPriority(), a.GetPriority())
	})
	left := blockLimit(p)
	limited := left > 0
	for _, b := range byPriority {
		wanted := b.GetTokens()
		if b.GetMaxTokens() > 0 {
			wanted = min(wanted, b.GetMaxTokens())
		}
		if limited {
			wanted = min(wanted, left)
			left -= wanted
		}
		b.LimitTokens = nil
		if wanted < b.GetTokens() {
			b.LimitTokens = &wanted
		}
	}
}

// advanceBlocks moves the LATEST blocks before a message that starts a turn, and removes the blocks whose last turn has
// ended. Like a late result, this changes a view that a client may already have. So does a leading message that comes
// after views have shown blocks. leadEnd and latest are where blocks stood before the message.
//
// Thinking stays valid: the tool loops between the two places have ended, and providers do not ask for their thinking.
func advanceBlocks(h *storagev1.Head, l *compactordv1.LoggedMessage, leadEnd, latest uint32) {
	starts := StartsTurn(l.GetMessage())
	if starts {
		h.TurnStart = proto.Uint32(l.GetIndex())
	}
	if len(h.GetBlocks()) == 0 {
		return
	}
	moved := HasLatestBlocks(h) && LatestPlace(h) != latest
	if moved || h.GetLeadEnd() != leadEnd {
		h.LastBlockMove = l.GetSequence()
	}
	if starts && expireBlocks(h) {
		h.LastBlockExpiry = l.GetSequence()
	}
}

// limitOf returns the most tokens that views show of a block.
func limitOf(b *storagev1.BlockInForce) uint32 {
	if b.LimitTokens == nil {
		return WholeBlock
	}
	return b.GetLimitTokens()
}

// expireBlocks counts a turn, and removes the blocks that hold no longer.
func expireBlocks(h *storagev1.Head) bool {
	before := len(h.GetBlocks())
	h.Blocks = slices.DeleteFunc(h.GetBlocks(), func(b *storagev1.BlockInForce) bool {
		switch {
		case b.TurnsLeft == nil:
			return false
		case b.GetTurnsLeft() > 0:
			b.TurnsLeft = proto.Uint32(b.GetTurnsLeft() - 1)
			return false
		}
		h.ViewMessages--
		h.BlockTokens -= b.GetShownTokens()
		h.ViewTokens -= b.GetShownTokens()
		h.ViewBytes -= b.GetShownBytes()
		h.ViewMediaTokens -= b.GetMediaTokens()
		h.ViewMediaBytes -= b.GetMediaBytes()
		h.ViewMedia -= b.GetMedia()
		return true
	})
	return len(h.GetBlocks()) < before
}

// blocksOf returns the contents of a head's context blocks, from those of a state and of a change.
func blocksOf(
	h *storagev1.Head, s *State, sequence uint32, change *compactordv1.ContextBlockChange,
) []*compactordv1.ContextBlock {
	blocks := make([]*compactordv1.ContextBlock, 0, len(h.GetBlocks()))
	for _, b := range h.GetBlocks() {
		from := s.Blocks
		if b.GetSequence() == sequence && change != nil {
			from = change.GetSet()
		}
		blocks = append(blocks, BlockNamed(from, b.GetName()))
	}
	return blocks
}

// BlockNamed returns the block with a name; nil where there is none.
func BlockNamed(blocks []*compactordv1.ContextBlock, name string) *compactordv1.ContextBlock {
	if at := slices.IndexFunc(blocks, func(b *compactordv1.ContextBlock) bool { return b.GetName() == name }); at >= 0 {
		return blocks[at]
	}
	return nil
}

// shownBlocks returns the context blocks as views show them. Where the policy no longer lets blocks speak with the
// operator's voice, they have none.
func (s *State) shownBlocks() []*compactordv1.ContextBlock {
	if allowsOperator(s.Policy) {
		return s.Blocks
	}
	shown := slices.Clone(s.Blocks)
	for i, b := range shown {
		if b.GetOperator() {
			shown[i] = proto.CloneOf(b)
			shown[i].Operator = false
		}
	}
	return shown
}

func allowsOperator(p *compactordv1.Policy) bool { return p.GetContextBlocks().GetAllowOperator() }

// setBlockFigures sets the figures of the blocks as views show them.
func (s *State) setBlockFigures(h *storagev1.Head) {
	h.BlockTokens = 0
	shown := s.shownBlocks()
	for i, b := range h.GetBlocks() {
		m, _ := BlockMessage(s.Counter, shown[i], limitOf(b))
		b.ShownTokens, b.ShownBytes = MessageTokens(s.Counter, m), uint32(proto.Size(m))
		b.MediaTokens, b.MediaBytes = MediaOf(s.Counter, m)
		b.Media = countMedia(m)
		h.BlockTokens = plus(h.GetBlockTokens(), b.GetShownTokens())
	}
}

// blocks adds the context blocks of a place. Views show the operator's before the others. A state of only some messages has
// none.
func (b *viewBuilder) blocks(place compactordv1.BlockPlace) {
	if len(b.contents) == 0 {
		return
	}
	for _, operator := range []bool{true, false} {
		for i, inForce := range b.head.GetBlocks() {
			block := b.contents[i]
			if inForce.GetPlace() != place || block.GetOperator() != operator {
				continue
			}
			m, cut := BlockMessage(b.counter, block, limitOf(inForce))
			shown := &compactordv1.ShownBlock{Name: inForce.GetName(), Place: place, Cut: cut}
			b.add(&compactordv1.ViewMessage{
				Message: m, Tokens: MessageTokens(b.counter, m),
				Origin: &compactordv1.ViewMessage_ContextBlock{ContextBlock: shown},
			})
		}
	}
}
