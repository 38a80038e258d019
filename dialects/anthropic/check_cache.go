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

// findBreakpoints returns the cache breakpoints of the list, in order.
func (d *decoded) findBreakpoints() []decodedBreakpoint {
	var breakpoints []decodedBreakpoint
	visit := func(message, part int, fields rawjson.Object) {
		breakpoints = append(breakpoints, breakpointsIn(d.by, fields, message, part, breakpointDepth)...)
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
func breakpointsIn(by *rawjson.Writer, block rawjson.Object, message, part, depth int) []decodedBreakpoint {
	var breakpoints []decodedBreakpoint
	inner := [2]json.RawMessage{block["content"]}
	if source := block["source"]; rawjson.KindOf(source) == rawjson.ObjectKind {
		if o, err := by.SplitObject(source); err == nil {
			inner[1] = o["content"]
		}
	}
	for _, content := range inner {
		if rawjson.KindOf(content) != rawjson.Array || depth == 0 {
			continue
		}
		elements, err := by.SplitArray(content)
		if err != nil {
			continue
		}
		for _, element := range elements {
			if o, err := by.SplitObject(element); err == nil {
				breakpoints = append(breakpoints, breakpointsIn(by, o, message, part, depth-1)...)
			}
		}
	}
	control, there := block[cacheKey]
	if !there {
		return breakpoints
	}
	o, err := by.SplitObject(control)
	if err != nil {
		return breakpoints
	}
	b := decodedBlock{fields: block}
	return append(breakpoints, decodedBreakpoint{
		message: message, part: part, typ: b.text("type"), long: decodedBlock{fields: o}.text("ttl") == "1h",
	})
}

func checkCacheCount(d *decoded, report report) {
	breakpoints := d.breakpoints
	for _, m := range breakpoints[min(maxBreakpoints, len(breakpoints)):] {
		report(m.message, m.part, fmt.Sprintf("%d blocks have a cache breakpoint", len(breakpoints)))
	}
}

func checkCachePlace(d *decoded, report report) {
	for _, m := range d.breakpoints {
		if m.typ == typeThinking || m.typ == typeRedactedThinking {
			report(m.message, m.part, "thinking has a cache breakpoint")
		}
	}
}

func checkCacheOrder(d *decoded, report report) {
	short := false
	for _, m := range d.breakpoints {
		if m.long && short {
			report(m.message, m.part, "the cache breakpoint is for an hour, and one before it for less")
		}
		short = short || !m.long
	}
}
