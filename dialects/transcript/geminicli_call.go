package transcript

import (
	"encoding/json"
	"math"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// geminiCall makes parts from a recorded call: the call and its result. A call that broke off has no result.
func geminiCall(raw json.RawMessage) (call json.RawMessage, answer []json.RawMessage, err error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, nil, err
	}
	function := make(rawjson.Object)
	for _, field := range []string{"id", "name"} {
		if o.Has(field) {
			function[field] = o[field]
		}
	}
	named := function.Encode()
	if o.Has("args") {
		function["args"] = compacted(o["args"])
	}
	parts, err := geminiParts(o, "result")
	if err != nil {
		return nil, nil, err
	}
	answer, err = geminiAnswer(named, parts)
	return rawjson.Object{"functionCall": function.Encode()}.Encode(), answer, rawjson.In("result", err)
}

// geminiAnswer makes function responses from the parts of a result. Some versions keep only the text.
func geminiAnswer(named json.RawMessage, parts []json.RawMessage) ([]json.RawMessage, error) {
	answer := make([]json.RawMessage, 0, len(parts))
	for i, raw := range parts {
		part, err := rawjson.ParseObject(raw)
		if err != nil {
			return nil, rawjson.InElement(i, err)
		}
		response, err := rawjson.ParseObject(named)
		if err != nil {
			return nil, err
		}
		switch {
		case part.Has("functionResponse"):
			said, err := part.Sub("functionResponse")
			if err != nil {
				return nil, rawjson.InElement(i, err)
			}
			for key, value := range said {
				if response[key] == nil {
					response[key] = value
				}
			}
			part["functionResponse"] = response.Encode()
		case len(parts) == 1 && part.Has("text"):
			response["response"] = rawjson.Object{"output": part["text"]}.Encode()
			part = rawjson.Object{"functionResponse": response.Encode()}
		}
		answer = append(answer, part.Encode())
	}
	return answer, nil
}

// geminiUsage reads the tokens of a record. The input includes what was read from a cache. The output excludes
// thoughts.
func geminiUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	usage := &compactordv1.Usage{}
	var thoughts, tools uint32
	err := counts(o,
		countField{"input", &usage.InputTokens},
		countField{"output", &usage.OutputTokens},
		countField{"cached", &usage.CacheReadTokens},
		countField{"thoughts", &thoughts},
		countField{"tool", &tools},
		countField{"total", &usage.TotalTokens},
	)
	if err != nil {
		return nil, err
	}
	if err := subtractCached(usage); err != nil {
		return nil, rawjson.In("cached", err)
	}
	usage.InputTokens = plus(usage.GetInputTokens(), tools)
	usage.OutputTokens = plus(usage.GetOutputTokens(), thoughts)
	return usage, nil
}

// plus adds counts, up to the largest uint32.
func plus(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), math.MaxUint32)) }
