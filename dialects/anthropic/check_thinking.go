package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkThinkingSigned(j *judged, report report) {
	j.of(roleAssistant, typeThinking, func(i int, b judgedBlock) {
		if b.text("signature") == "" {
			report(i, b.part, "the thinking has no signature")
		}
	})
	j.of(roleAssistant, typeRedactedThinking, func(i int, b judgedBlock) {
		if b.text("data") == "" {
			report(i, b.part, "the redacted thinking has no data")
		}
	})
}

func checkThinkingNotLast(j *judged, report report) {
	for i, m := range j.messages {
		n := len(m.blocks)
		if m.role != roleAssistant || j.isLast(i) || n == 0 {
			continue
		}
		if last := m.blocks[n-1]; last.typ == typeThinking || last.typ == typeRedactedThinking {
			report(i, last.part, "the message ends with thinking")
		}
	}
}

func checkServerTools(j *judged, report report) {
	waiting := make(map[string]bool)
	for i, m := range j.messages {
		if m.role != roleAssistant {
			continue
		}
		open, callers := make(map[string]judgedBlock), make(map[string]bool)
		for _, b := range m.blocks {
			id := b.text("id")
			switch {
			case serverUse(b.typ):
				if before, twice := open[id]; twice {
					report(i, before.part, "another use of a server tool has the same id")
				}
				open[id] = b
			case serverResult(b.typ):
				id = b.text("tool_use_id")
				if _, found := open[id]; !found && !waiting[id] {
					report(i, b.part, "the result of a server tool has no use before it")
				}
				delete(open, id)
				delete(waiting, id)
			case b.typ == typeToolUse && programOf(b) != "":
				if _, found := open[programOf(b)]; !found && !waiting[programOf(b)] {
					report(i, b.part, "the program that makes the call does not wait")
				}
				callers[programOf(b)] = true
			}
		}
		for id, use := range open {
			switch {
			case callers[id]:
				waiting[id] = true
			case !j.isLast(i):
				report(i, use.part, "the use of a server tool has no result in the message")
			}
		}
	}
}

// programOf is the id of the program that makes a call.
func programOf(b judgedBlock) string {
	caller, err := rawjson.SplitObject(b.fields["caller"])
	if err != nil {
		return ""
	}
	return judgedBlock{fields: caller}.text("tool_id")
}

func checkProgramResults(j *judged, report report) {
	for i, m := range j.messages {
		if i == 0 || m.role != roleUser || j.messages[i-1].role != roleAssistant {
			continue
		}
		called := false
		for _, b := range j.messages[i-1].blocks {
			called = called || b.typ == typeToolUse && programOf(b) != ""
		}
		for _, b := range m.blocks {
			if called && b.typ != typeToolResult {
				report(i, b.part, "a block of another type stands beside the results for a program")
			}
		}
	}
}

func checkCompactionContent(j *judged, report report) {
	j.eachBlock(func(i int, b judgedBlock) {
		if b.typ == typeCompaction && b.fields.Has("content") && b.text("content") == "" {
			report(i, b.part, "the content of the compaction is empty or no text")
		}
	})
}

// judgedMark is a mark for the cache with its place.
type judgedMark struct {
	message, part int
	typ           string
	long          bool
}

// marks are all marks of the list, in its order.
func (j *judged) marks() []judgedMark {
	var marks []judgedMark
	visit := func(message, part int, fields rawjson.Object) {
		marks = append(marks, marksIn(fields, message, part, markDepth)...)
	}
	for _, b := range j.system {
		visit(-1, b.part, b.fields)
	}
	for i, m := range j.messages {
		for _, b := range m.blocks {
			visit(i, b.part, b.fields)
		}
	}
	return marks
}

// marksIn are the marks of a block and of the blocks in it.
func marksIn(block rawjson.Object, message, part, depth int) []judgedMark {
	var marks []judgedMark
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
				marks = append(marks, marksIn(o, message, part, depth-1)...)
			}
		}
	}
	mark, err := rawjson.SplitObject(block[cacheKey])
	if err != nil {
		return marks
	}
	b := judgedBlock{fields: block}
	return append(marks, judgedMark{
		message: message, part: part, typ: b.text("type"), long: judgedBlock{fields: mark}.text("ttl") == "1h",
	})
}

func checkCacheCount(j *judged, report report) {
	marks := j.marks()
	for _, m := range marks[min(maxMarks, len(marks)):] {
		report(m.message, m.part, fmt.Sprintf("%d blocks are marked for the cache", len(marks)))
	}
}

func checkCachePlace(j *judged, report report) {
	for _, m := range j.marks() {
		if m.typ == typeThinking || m.typ == typeRedactedThinking {
			report(m.message, m.part, "thinking is marked for the cache")
		}
	}
}

func checkCacheOrder(j *judged, report report) {
	short := false
	for _, m := range j.marks() {
		if m.long && short {
			report(m.message, m.part, "the mark is for an hour, one before it for less")
		}
		short = short || !m.long
	}
}
