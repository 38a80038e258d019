package session

import (
	"math"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// WholeBlock is the limit of a context block that views show whole.
const WholeBlock = math.MaxUint32

// BlockMessage returns the message that shows a context block, and whether it shows only a part. limit is the most tokens
// that it may have. The reference to what is left out is there even where the limit leaves no room for it. Where it takes as
// many tokens as what it stands for, the whole block is shown.
func BlockMessage(c Counter, b *compactordv1.ContextBlock, limit uint32) (m *compactordv1.Message, cut bool) {
	return boundedBlock(c, b, limit, wording.BlockReference(b.GetName()))
}

// boundedBlock is BlockMessage with the words that stand for what is left out.
func boundedBlock(
	c Counter, b *compactordv1.ContextBlock, limit uint32, reference string,
) (m *compactordv1.Message, cut bool) {
	whole := blockMessage(b, b.GetParts(), "")
	if limit == WholeBlock || MessageTokens(c, whole) <= limit {
		return whole, false
	}
	fits := func(parts []*compactordv1.Part) bool {
		return MessageTokens(c, blockMessage(b, parts, reference)) <= limit
	}
	var shown []*compactordv1.Part
	for _, p := range b.GetParts() {
		if more := append(shown[:len(shown):len(shown)], p); fits(more) {
			shown = more
			continue
		}
		if text := p.GetText().GetText(); text != "" {
			beginning := longestBeginning(text, func(beginning string) bool {
				return fits(append(shown[:len(shown):len(shown)], TextPart(beginning)))
			})
			if beginning != "" {
				shown = append(shown, TextPart(beginning))
			}
		}
		break
	}
	if m = blockMessage(b, shown, reference); MessageTokens(c, m) >= MessageTokens(c, whole) {
		return whole, false
	}
	return m, true
}

// blockMessage returns a message with these parts of a block. Texts next to each other become one part.
func blockMessage(b *compactordv1.ContextBlock, parts []*compactordv1.Part, reference string) *compactordv1.Message {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER}
	if b.GetOperator() {
		m.Role = compactordv1.Role_ROLE_SYSTEM
	}
	var text strings.Builder
	text.WriteString(wording.BlockOpening(b.GetName(), b.GetOperator()))
	afterText := false
	for _, p := range parts {
		if p.GetText() == nil {
			m.Parts = append(m.Parts, TextPart(text.String()), p)
			text.Reset()
			afterText = false
			continue
		}
		if afterText {
			text.WriteString("\n")
		}
		text.WriteString(wording.BlockText(p.GetText().GetText()))
		afterText = true
	}
	if len(parts) == 0 {
		// The opening ends its line already.
		reference = strings.TrimPrefix(reference, "\n")
	}
	text.WriteString(reference + wording.BlockClosing)
	m.Parts = append(m.Parts, TextPart(text.String()))
	return m
}

// longestBeginning returns the longest beginning of a text that fits, cut between characters.
func longestBeginning(text string, fits func(string) bool) string {
	low, high := 0, len(text)
	for low < high {
		mid := (low + high + 1) / 2
		if fits(text[:runeStart(text, mid)]) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return text[:runeStart(text, low)]
}

// runeStart lowers a place in a text to the beginning of a character.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
