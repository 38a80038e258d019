package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

const (
	cacheKey = "cache_control"
	// maxBreakpoints is how many blocks of a request can have a cache breakpoint.
	maxBreakpoints = 4
	// breakpointDepth bounds how deep blocks are searched for breakpoints. A text in a document in a result is at depth 2.
	breakpointDepth = 4
)

// renderBreakpoints sets cache breakpoints. With breakpoints in the options, these replace the client's. Without, the
// client's stay, as far as the provider accepts them.
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
	if r.more {
		newest = len(blocks)
	}
	if breakpoints == nil {
		r.limitBreakpoints(blocks, newest)
		return
	}
	for _, b := range blocks {
		if !b.made {
			b.raw = editBreakpoints(b.raw, breakpointDepth, func(json.RawMessage) json.RawMessage { return nil })
		}
	}
	marked := make(map[*renderedBlock]bool)
	for _, message := range breakpoints {
		if b := lastUpTo(blocks, max(message, lead-1)); b != nil && len(marked) < maxBreakpoints && !marked[b] {
			marked[b] = true
			b.raw = mark(r.written(b))
		}
	}
}

// lastUpTo returns the last block that can have a breakpoint, among those made from messages up to the given one.
func lastUpTo(blocks []*renderedBlock, message int) *renderedBlock {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].message <= message && isMarkable(blocks[i].typ) {
			return blocks[i]
		}
	}
	return nil
}

// isMarkable reports whether a block is known to accept a breakpoint.
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

// limitBreakpoints keeps as many breakpoints of the client as the provider accepts, and none with a longer lifetime
// after one with a shorter. The first ones stay, and the newest stays if it is in the last message, which begins at
// newest. Removing others would change what an earlier view has shown.
func (r *renderer) limitBreakpoints(blocks []*renderedBlock, newest int) {
	var marked []int
	count := r.before.marks
	for i, b := range blocks {
		if b.made {
			continue
		}
		editBreakpoints(b.raw, breakpointDepth, func(mark json.RawMessage) json.RawMessage {
			marked = append(marked, i)
			if isMark(mark) && !isThinking(*b) {
				count++
			}
			return mark
		})
	}
	at, short := r.before.marks, r.before.shortMark
	for _, i := range slices.Compact(marked) {
		b := blocks[i]
		b.raw = editBreakpoints(b.raw, breakpointDepth, func(mark json.RawMessage) json.RawMessage {
			if rawjson.KindOf(mark) == rawjson.Null {
				return mark
			}
			if !isMark(mark) || isThinking(*b) {
				r.repair(ruleCachePlace, b.message, "a cache breakpoint is left out, since the provider accepts none there")
				return nil
			}
			at++
			if at >= maxBreakpoints && (at < count || i < newest) {
				r.repair(ruleCacheCount, b.message, "a cache breakpoint is left out, since there could be too many")
				return nil
			}
			long := isLong(mark)
			if long && short {
				r.repair(ruleCacheOrder, b.message, "a cache breakpoint gets the shorter lifetime of those before it")
				return shortened(mark)
			}
			short = short || !long
			return mark
		})
	}
	r.after.marks, r.after.shortMark = count, short
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

// editBreakpoints replaces each breakpoint of a block, and of the blocks in it, by what change returns.
func editBreakpoints(raw json.RawMessage, depth int, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	if depth < 0 || !bytes.Contains(raw, []byte(cacheKey)) && !rawjson.HasNumbers(raw) {
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
		now := editBreakpoints(element, depth-1, change)
		changed = changed || !bytes.Equal(now, element)
		elements[i] = now
	}
	if changed {
		o["content"] = rawjson.EncodeArray(elements)
	}
	return changed
}
