package listsync

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"io"
	"strconv"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// key stands for what a part of a message says. Parts with equal keys are the same to a provider's model.
type key [16]byte

// keysOf returns the keys of a message's parts. Thinking has none, since many frameworks drop it, and an empty text
// says nothing.
func keysOf(m *compactordv1.Message) []key {
	var keys []key
	for _, p := range m.GetParts() {
		if k, says := keyOf(m.GetRole(), p); says {
			keys = append(keys, k)
		}
	}
	return keys
}

// keyOf leaves out the ids of calls, which frameworks change: results follow their calls, so the order tells as much.
func keyOf(role compactordv1.Role, p *compactordv1.Part) (k key, says bool) {
	h := sha256.New()
	write(h, strconv.Itoa(int(role)))
	switch kind := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		if kind.Text.GetText() == "" {
			return key{}, false
		}
		write(h, "text", kind.Text.GetText())
	case *compactordv1.Part_ToolCall:
		write(h, "call", kind.ToolCall.GetName(), canonical(kind.ToolCall.GetArguments()))
	case *compactordv1.Part_ToolResult:
		write(h, "result")
		for _, r := range kind.ToolResult.GetParts() {
			writeResult(h, r)
		}
	case *compactordv1.Part_Media:
		writeMedia(h, kind.Media)
	case *compactordv1.Part_Opaque:
		write(h, "item", kind.Opaque.GetType(), canonical(kind.Opaque.GetJson()))
	default:
		return key{}, false
	}
	copy(k[:], h.Sum(nil))
	return k, true
}

func writeResult(h hash.Hash, p *compactordv1.ResultPart) {
	switch kind := p.GetKind().(type) {
	case *compactordv1.ResultPart_Text:
		if kind.Text.GetText() != "" {
			write(h, "text", kind.Text.GetText())
		}
	case *compactordv1.ResultPart_Media:
		writeMedia(h, kind.Media)
	case *compactordv1.ResultPart_Opaque:
		write(h, "item", kind.Opaque.GetType(), canonical(kind.Opaque.GetJson()))
	}
}

func writeMedia(h hash.Hash, m *compactordv1.MediaPart) {
	write(h, "media", string(m.GetData()), m.GetUri(), m.GetFileId())
}

// write writes texts so that no two lists of texts give the same bytes.
func write(h hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = io.WriteString(h, strconv.Itoa(len(text))+":"+text)
	}
}

// canonical returns JSON with sorted keys and without spaces; other text as it is.
func canonical(text string) string {
	if text == "" {
		return "{}"
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.More() {
		return text
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(sorted)
}
