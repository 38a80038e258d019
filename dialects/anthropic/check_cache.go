package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// decodedBreakpoint is a cache breakpoint with its place.
type decodedBreakpoint struct {
	message, part int
	typ           string
	long          bool
}

// breakpoints returns the cache breakpoints of the list, in order.
func (d *decoded) breakpoints() []decodedBreakpoint {
	var breakpoints []decodedBreakpoint
	visit := func(message, part int, fields rawjson.Object) {
		breakpoints = append(breakpoints, breakpointsIn(fields, message, part, breakpointDepth)...)
	}
	for _, b := range d.system {
		visit(-1, b.part, b.fields)
	}
	for i, m := range d.messages {
		for _, b := range m.blocks {
			visit(i, b.part, b.fields)
		}
	}
	return breakpoints
}

// breakpointsIn returns the cache breakpoints of a block and of the blocks in it.
func breakpointsIn(block rawjson.Object, message, part, depth int) []decodedBreakpoint {
	var breakpoints []decodedBreakpoint
	inner := []json.RawMessage{block["content"]}
	if source, err := rawjson.SplitObject(block["source"]); err == nil {
		inner = append(inner, source["content"])
	}
	for _, content := range inner {
		elements, err := rawjson.SplitArray(content)
		if err != nil || depth == 0 {
			continue
		}
		for _, element := range elements {
			if o, err := rawjson.SplitObject(element); err == nil {
				breakpoints = append(breakpoints, breakpointsIn(o, message, part, depth-1)...)
			}
		}
	}
	control, err := rawjson.SplitObject(block[cacheKey])
	if err != nil {
		return breakpoints
	}
	b := decodedBlock{fields: block}
	return append(breakpoints, decodedBreakpoint{
		message: message, part: part, typ: b.text("type"), long: decodedBlock{fields: control}.text("ttl") == "1h",
	})
}

func checkCacheCount(d *decoded, report report) {
	breakpoints := d.breakpoints()
	for _, m := range breakpoints[min(maxBreakpoints, len(breakpoints)):] {
		report(m.message, m.part, fmt.Sprintf("%d blocks have a cache breakpoint", len(breakpoints)))
	}
}

func checkCachePlace(d *decoded, report report) {
	for _, m := range d.breakpoints() {
		if m.typ == typeThinking || m.typ == typeRedactedThinking {
			report(m.message, m.part, "thinking has a cache breakpoint")
		}
	}
}

func checkCacheOrder(d *decoded, report report) {
	short := false
	for _, m := range d.breakpoints() {
		if m.long && short {
			report(m.message, m.part, "the cache breakpoint is for an hour, and one before it for less")
		}
		short = short || !m.long
	}
}
