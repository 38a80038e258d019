package session

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// ExtraBlocks are the context blocks of one request, as its view shows them. They stand at its end: before the newest turn
// they would make the provider's cache of that turn useless, and the thinking of a tool loop in it invalid, since the next
// request has others.
type ExtraBlocks struct {
	Messages []*compactordv1.ViewMessage
	// Tokens is the estimate of Messages, Bytes their size in protobuf encoding.
	Tokens, Bytes uint32
	// Hash stands for what they show.
	Hash [extraHashSize]byte
}

// NewExtraBlocks returns what the view of a head shows of a request's blocks: at most what each wants, and what the
// session's blocks leave of the policy's limit, by priority.
func NewExtraBlocks(
	c Counter, h *storagev1.Head, p *compactordv1.Policy, given []*compactordv1.ContextBlock,
) ExtraBlocks {
	x := ExtraBlocks{}
	if len(given) == 0 {
		return x
	}
	hash := sha256.New()
	for i, limit := range extraLimits(c, h, p, given) {
		m, cut := boundedBlock(c, given[i], limit, wording.CutExtraBlock)
		vm := &compactordv1.ViewMessage{
			Message: m, Tokens: MessageTokens(c, m),
			Origin: &compactordv1.ViewMessage_ContextBlock{
				ContextBlock: &compactordv1.ShownBlock{Name: given[i].GetName(), Cut: cut, Extra: true},
			},
		}
		x.Messages = append(x.Messages, vm)
		x.Tokens = plus(x.Tokens, vm.GetTokens())
		x.Bytes += uint32(proto.Size(m))
		shown, err := proto.MarshalOptions{Deterministic: true}.Marshal(vm)
		if err != nil {
			// Texts and media of a request that was decoded can be encoded.
			continue
		}
		hash.Write(shown)
	}
	copy(x.Hash[:], hash.Sum(nil))
	return x
}

// extraLimits returns the most tokens that the view shows of each block.
func extraLimits(
	c Counter, h *storagev1.Head, p *compactordv1.Policy, given []*compactordv1.ContextBlock,
) []uint32 {
	limits, byPriority := make([]uint32, len(given)), make([]int, len(given))
	for i := range given {
		byPriority[i] = i
	}
	slices.SortStableFunc(byPriority, func(a, b int) int {
		return cmp.Compare(given[b].GetPriority(), given[a].GetPriority())
	})
	left := uint32(math.MaxUint32)
	if most := blockLimit(p); most > 0 {
		left = most - min(most, h.GetBlockTokens())
	}
	for _, i := range byPriority {
		whole := MessageTokens(c, blockMessage(given[i], given[i].GetParts(), ""))
		limits[i] = min(whole, left)
		if own := given[i].GetMaxTokens(); own > 0 {
			limits[i] = min(limits[i], own)
		}
		left -= limits[i]
	}
	return limits
}

// IsExtra reports whether a message of a view shows an extra block.
func IsExtra(vm *compactordv1.ViewMessage) bool { return vm.GetContextBlock().GetExtra() }

// With adds the extra blocks of a request to the end of a view.
func (v *View) With(x ExtraBlocks) {
	v.Messages = append(v.Messages, x.Messages...)
	v.Tokens, v.Bytes = plus(v.Tokens, x.Tokens), v.Bytes+x.Bytes
	v.Report.Tokens, v.Report.Bytes, v.Report.ExtraBlockTokens = v.Tokens, v.Bytes, x.Tokens
}
