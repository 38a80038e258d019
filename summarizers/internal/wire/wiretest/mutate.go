package wiretest

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Mutate lets a provider read answers that are almost right: with values of another type, wrong bytes, repeated pieces.
// They are the same in every run.
func Mutate(t *testing.T, s Spoken, n int, seeds ...string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	seeds = append(seeds, s.Whole, Events(s.More)+s.Whole, Events(s.More, s.Error("some_error")))
	for range n {
		stream := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			stream = mutate(random, stream)
		}
		s.read(t, []byte(stream), 200, random.IntN(8) > 0)
	}
}

func mutate(random *rand.Rand, stream string) string {
	lines := strings.SplitAfter(stream, "\n")
	at := random.IntN(len(lines))
	data, isData := strings.CutPrefix(lines[at], "data: ")
	var value any
	if isData && random.IntN(5) > 0 && json.Unmarshal([]byte(data), &value) == nil {
		raw, _ := json.Marshal(change(random, value))
		lines[at] = "data: " + string(raw) + "\n"
		return strings.Join(lines, "")
	}
	switch random.IntN(4) {
	case 0:
		lines[at] += lines[random.IntN(len(lines))]
	case 1:
		lines[at] = ""
	case 2:
		lines = lines[:at+1]
	case 3:
		b := []byte(lines[at])
		if len(b) > 0 {
			b[random.IntN(len(b))] = byte(random.IntN(256))
		}
		lines[at] = string(b)
	}
	return strings.Join(lines, "")
}

// change replaces something in a JSON value.
func change(random *rand.Rand, value any) any {
	switch v := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) > 0 && random.IntN(6) > 0 {
			key := keys[random.IntN(len(keys))]
			v[key] = change(random, v[key])
			return v
		}
	case []any:
		if len(v) > 0 && random.IntN(6) > 0 {
			i := random.IntN(len(v))
			v[i] = change(random, v[i])
			return v
		}
	}
	others := []any{
		nil, true, -1, 1e30, "", "x", "length", "c2ln",
		[]any{},
		[]any{nil},
		[]any{"x"},
		map[string]any{},
		map[string]any{"error": "x"},
		map[string]any{"type": "x", "text": 1},
		[]any{map[string]any{}},
	}
	return others[random.IntN(len(others))]
}
