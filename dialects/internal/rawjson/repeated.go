package rawjson

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
)

// RepeatsKey says whether an object in valid JSON, at any depth, has a key more than once. Readers differ in which of
// its values they take.
func RepeatsKey(valid json.RawMessage) bool {
	r := repeats{seed: maphash.MakeSeed()}
	for at := 0; at < len(valid); at++ {
		switch valid[at] {
		case '{':
			r.begins = append(r.begins, len(r.keys))
		case '}':
			if r.end() {
				return true
			}
		case '"':
			s := splitter{raw: valid, at: at}
			s.skipString()
			if isKey(valid[s.at:]) {
				r.add(valid[at:s.at])
			}
			at = s.at - 1
		}
	}
	return false
}

// repeats holds the hashes of the keys of the objects that are open, and where those of each object begin.
type repeats struct {
	seed   maphash.Seed
	keys   []uint64
	begins []int
}

// add adds a key, with its quotes.
func (r *repeats) add(quoted json.RawMessage) {
	key := []byte(quoted)
	if bytes.IndexByte(key, '\\') >= 0 {
		if text, err := textOf(quoted); err == nil {
			key = []byte(`"` + text + `"`)
		}
	}
	r.keys = append(r.keys, maphash.Bytes(r.seed, key))
}

// end ends the innermost object, and says whether it has a key twice.
func (r *repeats) end() bool {
	if len(r.begins) == 0 {
		return false
	}
	last := len(r.begins) - 1
	own := r.keys[r.begins[last]:]
	slices.Sort(own)
	for i := 1; i < len(own); i++ {
		if own[i] == own[i-1] {
			return true
		}
	}
	r.keys, r.begins = r.keys[:r.begins[last]], r.begins[:last]
	return false
}

// isKey says whether a string is a key by what follows it: only keys stand before a colon.
func isKey(following json.RawMessage) bool {
	for _, b := range following {
		switch b {
		case ' ', '\t', '\r', '\n':
		default:
			return b == ':'
		}
	}
	return false
}
