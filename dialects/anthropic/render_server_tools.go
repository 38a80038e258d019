package anthropic

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairServerTools drops uses of server tools without a result, and results without a use. A use that is a program can
// wait for its own calls of the client's tools: then its result comes in a later message.
func (r *renderer) pairServerTools() {
	waiting := make(map[string]bool)
	for i, t := range r.rendered {
		if t.role != roleAssistant {
			continue
		}
		last := i+1 == len(r.rendered)
		interrupted := !last && len(r.rendered[i+1].rest) > 0
		callers := r.callers(t, waiting, interrupted)
		// Where it is unknown whether the turn paused, and it has nothing else, it is left out now: it would be left out
		// anyway once the user writes.
		paused := last && (t.stop == compactordv1.StopReason_STOP_REASON_PAUSE ||
			t.stop == compactordv1.StopReason_STOP_REASON_UNSPECIFIED && !onlyServerUses(t.rest))
		unpaired := unpairedBlocks(t.rest, waiting, callers, paused)
		if len(unpaired) == 0 {
			continue
		}
		var kept []renderedBlock
		for at, b := range t.rest {
			if unpaired[at] {
				r.drop(b.message, b.part, "the use of a server tool and its result are not together")
				continue
			}
			kept = append(kept, b)
		}
		t.rest = kept
	}
	r.after.programWaits = len(waiting) > 0
	r.dropEmpty()
}

func onlyServerUses(blocks []renderedBlock) bool {
	return !slices.ContainsFunc(blocks, func(b renderedBlock) bool { return !isServerUse(b.typ) })
}

// callers returns the ids of the programs that wait for calls of a message. A call becomes the model's own where its
// program is missing, or where the user wrote before the program could go on.
func (r *renderer) callers(t *renderedMessage, waiting map[string]bool, interrupted bool) map[string]bool {
	runs, callers := maps.Clone(waiting), make(map[string]bool)
	for at, b := range t.rest {
		switch {
		case isServerUse(b.typ):
			runs[textField(b.raw, "id")] = true
			continue
		case isServerResult(b.typ):
			delete(runs, textField(b.raw, "tool_use_id"))
			continue
		case b.typ != typeToolUse:
			continue
		}
		o, program := callerIn(b.raw)
		switch {
		case program == "":
		case interrupted, !runs[program]:
			delete(o, "caller")
			t.rest[at].raw = o.Encode()
			r.repair(ruleProgramResults, b.message, "a program's call becomes a call of the model's own")
		default:
			callers[program] = true
		}
	}
	return callers
}

// callerIn returns the id of the program that made a call. Empty where the model itself made it.
func callerIn(use json.RawMessage) (o rawjson.Object, id string) {
	o, err := rawjson.SplitObject(use)
	if err != nil {
		return nil, ""
	}
	caller, err := rawjson.SplitObject(o["caller"])
	if err != nil {
		return o, ""
	}
	id, err = caller.Text("tool_id")
	if err != nil {
		return o, ""
	}
	return o, id
}

// unpairedBlocks returns the positions of uses without a result and of results without a use. It updates waiting, the
// programs whose results come in a later message.
func unpairedBlocks(blocks []renderedBlock, waiting, callers map[string]bool, paused bool) map[int]bool {
	unpaired, open := make(map[int]bool), make(map[string]int)
	for at, b := range blocks {
		switch {
		case isServerUse(b.typ):
			unpaired[at] = true
			if id := textField(b.raw, "id"); id != "" {
				open[id] = at
			}
		case isServerResult(b.typ):
			id := textField(b.raw, "tool_use_id")
			use, found := open[id]
			switch {
			case found:
				delete(unpaired, use)
				delete(open, id)
			case waiting[id]:
				delete(waiting, id)
			default:
				unpaired[at] = true
			}
		}
	}
	for id, use := range open {
		if callers[id] {
			waiting[id] = true
		}
		if callers[id] || paused {
			delete(unpaired, use)
		}
	}
	return unpaired
}

// textField returns a field of a block. Empty where it is no text.
func textField(raw json.RawMessage, key string) string {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return ""
	}
	return o.TextOrEmpty(key)
}
