package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

const (
	cacheKey = "cache_control"
	// maxMarks is how many blocks of a request may be marked for the cache.
	maxMarks = 4
	// markDepth bounds how deep blocks are looked for marks. A text in a document in a result is at depth 2.
	markDepth = 4
)

// renderBreakpoints marks blocks for the cache. With breakpoints, they take the place of the client's marks. Without, the
// client's stay, as far as the provider takes them.
func (r *renderer) renderBreakpoints(lead int, breakpoints []int) {
	var blocks []*renderedBlock
	for i := range r.system {
		blocks = append(blocks, &r.system[i])
	}
	newest := len(blocks)
	for _, t := range r.rendered {
		newest = len(blocks)
		for i := range t.results {
			blocks = append(blocks, &t.results[i])
		}
		for i := range t.rest {
			blocks = append(blocks, &t.rest[i])
		}
	}
	if breakpoints == nil {
		r.limitMarks(blocks, newest)
		return
	}
	for _, b := range blocks {
		b.raw = editMarks(b.raw, markDepth, func(json.RawMessage) json.RawMessage { return nil })
	}
	marked := make(map[*renderedBlock]bool)
	for _, message := range breakpoints {
		if b := lastUpTo(blocks, max(message, lead-1)); b != nil && len(marked) < maxMarks && !marked[b] {
			marked[b] = true
			b.raw = mark(b.raw)
		}
	}
}

// lastUpTo is the last block that can be marked of those made of messages up to one.
func lastUpTo(blocks []*renderedBlock, message int) *renderedBlock {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].message <= message && isMarkable(blocks[i].typ) {
			return blocks[i]
		}
	}
	return nil
}

// isMarkable says whether a block can be marked. Others may be able to, but it is not known.
func isMarkable(typ string) bool {
	switch typ {
	case typeText, typeImage, typeDocument, typeToolUse, typeToolResult, typeSearchResult:
		return true
	default:
		return false
	}
}

func mark(raw json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return raw
	}
	o[cacheKey] = json.RawMessage(`{"type":"ephemeral"}`)
	return o.Encode()
}

// limitMarks keeps as many marks of the client as the provider takes, and none with a longer time behind one with a
// shorter. The first marks stay, and the newest if it is in the last message, which begins at newest. To move other
// marks would change what a view has shown before.
func (r *renderer) limitMarks(blocks []*renderedBlock, newest int) {
	var marked []int
	count := 0
	for i, b := range blocks {
		editMarks(b.raw, markDepth, func(mark json.RawMessage) json.RawMessage {
			marked = append(marked, i)
			if isMark(mark) && !isThinking(*b) {
				count++
			}
			return mark
		})
	}
	at, short := 0, false
	for _, i := range slices.Compact(marked) {
		b := blocks[i]
		b.raw = editMarks(b.raw, markDepth, func(mark json.RawMessage) json.RawMessage {
			if rawjson.KindOf(mark) == rawjson.Null {
				return mark
			}
			if !isMark(mark) || isThinking(*b) {
				r.repair(ruleCachePlace, b.message, "a mark for the cache is left out, since the provider takes none there")
				return nil
			}
			at++
			if at >= maxMarks && (at < count || i < newest) {
				r.repair(ruleCacheCount, b.message, "a mark for the cache is left out, since there could be too many")
				return nil
			}
			long := isLong(mark)
			if long && short {
				r.repair(ruleCacheOrder, b.message, "a mark for the cache has the shorter time of those before it")
				return shortened(mark)
			}
			short = short || !long
			return mark
		})
	}
}

func isMark(mark json.RawMessage) bool { return rawjson.KindOf(mark) == rawjson.ObjectKind }

func isLong(mark json.RawMessage) bool { return textField(mark, "ttl") == "1h" }

func shortened(mark json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(mark)
	if err != nil {
		return mark
	}
	delete(o, "ttl")
	return o.Encode()
}

// editMarks replaces each mark of a block, and of the blocks in it, by what change returns.
func editMarks(raw json.RawMessage, depth int, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	if depth < 0 || !bytes.Contains(raw, []byte(cacheKey)) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return raw
	}
	changed := editMarksIn(o, depth, change)
	if source, err := rawjson.SplitObject(o["source"]); err == nil && editMarksIn(source, depth, change) {
		o["source"] = source.Encode()
		changed = true
	}
	if mark, there := o[cacheKey]; there {
		now := change(mark)
		switch {
		case now == nil:
			delete(o, cacheKey)
			changed = true
		case !bytes.Equal(now, mark):
			o[cacheKey] = now
			changed = true
		}
	}
	if !changed {
		return raw
	}
	return o.Encode()
}

func editMarksIn(o rawjson.Object, depth int, change func(json.RawMessage) json.RawMessage) bool {
	elements, err := rawjson.SplitArray(o["content"])
	if err != nil {
		return false
	}
	changed := false
	for i, element := range elements {
		now := editMarks(element, depth-1, change)
		changed = changed || !bytes.Equal(now, element)
		elements[i] = now
	}
	if changed {
		o["content"] = rawjson.EncodeArray(elements)
	}
	return changed
}
