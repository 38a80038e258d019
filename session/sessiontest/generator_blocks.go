package sessiontest

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// changeBlocks sets and removes context blocks, of few names so that they replace each other.
func (g *Generator) changeBlocks(t *rapid.T) {
	names := []string{"plan", "memory", "skill:deploy", "environment"}
	change := &compactordv1.ContextBlockChange{}
	inForce := g.head().GetBlocks()
	if len(inForce) > 0 && chance(t, 25, "removed") {
		change.Removed = []string{oneOf(t, "block to remove", inForce).GetName()}
	}
	for range between(t, 1, 2, "blocks") {
		name := oneOf(t, "name", names)
		if slices.Contains(change.GetRemoved(), name) || session.BlockNamed(change.GetSet(), name) != nil {
			continue
		}
		change.Set = append(change.Set, g.block(t, name))
	}
	if len(change.GetRemoved())+len(change.GetSet()) == 0 {
		return
	}
	g.count(BlocksRemoved, len(change.GetRemoved()) > 0)
	for _, b := range inForce {
		g.count(BlockReplaced, session.BlockNamed(change.GetSet(), b.GetName()) != nil)
	}
	g.count(BlocksInLoop, g.head().LoopStart != nil)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_ContextBlocks{ContextBlocks: change}})
	g.count(BlockCut, slices.ContainsFunc(g.Model().context.blocks, func(b Block) bool { return b.Limit >= 0 }))
}

func (g *Generator) block(t *rapid.T, name string) *compactordv1.ContextBlock {
	b := &compactordv1.ContextBlock{
		Name: name, Place: compactordv1.BlockPlace(between(t, 0, 2, "place")),
		Priority: uint32(between(t, 0, 2, "priority")),
	}
	for range between(t, 1, 3, "parts") {
		if chance(t, 15, "media") {
			b.Parts = append(b.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media(t)}})
			continue
		}
		b.Parts = append(b.Parts, text(strings.Repeat(g.words(t)+" </context_block>", between(t, 1, 4, "words"))))
	}
	if chance(t, 20, "limited") {
		b.MaxTokens = uint32(between(t, 1, 80, "most tokens"))
	}
	if chance(t, 30, "turns") {
		b.Turns = uint32(between(t, 1, 2, "turns"))
	}
	onlyText := !slices.ContainsFunc(b.GetParts(), func(p *compactordv1.Part) bool { return p.GetText() == nil })
	b.Operator = onlyText && b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING && chance(t, 30, "operator")
	g.count(BlockOfOperator, b.GetOperator())
	g.count(BlockLeading, b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING)
	g.count(BlockLatest, b.GetPlace() != compactordv1.BlockPlace_BLOCK_PLACE_LEADING)
	whole, _ := session.BlockMessage(g.W.counter, b, session.WholeBlock)
	b.Tokens = session.MessageTokens(g.W.counter, whole)
	return b
}

// replaceInstructions replaces the leading messages.
func (g *Generator) replaceInstructions(t *rapid.T) {
	change := &compactordv1.InstructionsChange{Replaced: g.head().GetLeadEnd()}
	for range between(t, 0, 2, "instructions") {
		g.made++
		change.Messages = append(change.Messages, &compactordv1.Message{
			Role: oneOf(t, "role", []compactordv1.Role{
				compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER,
			}),
			Parts: []*compactordv1.Part{text(fmt.Sprintf("New rule %d.", g.made))},
		})
	}
	g.count(InstructionsReplaced, true)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Instructions{Instructions: change}})
}

// limitBlocks changes how many tokens the context blocks may have together, and whether they may have the operator's voice.
func (g *Generator) limitBlocks(t *rapid.T) {
	policy := proto.CloneOf(g.W.Policy)
	limit := uint32(between(t, 0, 3, "limit")) * 40
	policy.ContextBlocks = &compactordv1.ContextBlockPolicy{
		MaxTokens: &limit, AllowOperator: proto.Bool(chance(t, 60, "operator allowed")),
	}
	g.count(BlockLimitChanged, limit != g.W.Policy.GetContextBlocks().GetMaxTokens() && len(g.head().GetBlocks()) > 0)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: policy, Resolved: policy},
	}})
}
