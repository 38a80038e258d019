package strategies

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// resultText returns all text of a result, one piece on a line. A medium becomes a line of text, and an opaque item
// stays unchanged.
func resultText(r *compactordv1.ToolResult) string {
	if len(r.GetParts()) == 1 {
		return pieceText(r.GetParts()[0])
	}
	texts := make([]string, len(r.GetParts()))
	for i, rp := range r.GetParts() {
		texts[i] = pieceText(rp)
	}
	return strings.Join(texts, "\n")
}

func pieceText(rp *compactordv1.ResultPart) string {
	switch k := rp.GetKind().(type) {
	case *compactordv1.ResultPart_Text:
		return k.Text.GetText()
	case *compactordv1.ResultPart_Media:
		return wording.MediaLine(k.Media)
	default:
		return rp.GetOpaque().GetJson()
	}
}
