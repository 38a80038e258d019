package rawjson

import "encoding/json"

// Writer writes objects and arrays, and knows what it made each of them from. So what it wrote is read again without its
// JSON, at any depth; what others wrote is read as JSON. A nil Writer writes the same, and knows nothing.
type Writer struct {
	// objects and arrays hold what was written, by the first byte of its JSON.
	objects map[*byte]Object
	arrays  map[*byte][]json.RawMessage
}

// NewWriter returns a Writer that has room for about so many objects.
func NewWriter(objects int) *Writer {
	return &Writer{objects: make(map[*byte]Object, objects), arrays: make(map[*byte][]json.RawMessage, objects)}
}

// Object returns an object as JSON. The object belongs to the Writer then: nothing may change it.
func (w *Writer) Object(o Object) json.RawMessage { return w.know(o, o.Encode()) }

// ObjectWithText returns an object with one more field, a text, as JSON. Both belong to the Writer then.
func (w *Writer) ObjectWithText(o Object, key, text string) json.RawMessage {
	return w.know(o, o.EncodeWithText(key, text))
}

// Array returns an array as JSON. The elements belong to the Writer then.
func (w *Writer) Array(elements []json.RawMessage) json.RawMessage {
	raw := EncodeArray(elements)
	w.knowArray(elements, raw)
	return raw
}

func (w *Writer) know(o Object, raw json.RawMessage) json.RawMessage {
	if w != nil {
		w.objects[&raw[0]] = o
	}
	return raw
}

func (w *Writer) knowArray(elements []json.RawMessage, raw json.RawMessage) {
	if w != nil {
		w.arrays[&raw[0]] = elements
	}
}

// Wrote reports whether the Writer wrote a value.
func (w *Writer) Wrote(raw json.RawMessage) bool {
	if w == nil || len(raw) == 0 {
		return false
	}
	_, object := w.objects[&raw[0]]
	_, array := w.arrays[&raw[0]]
	return object || array
}

// Valid reports whether a value is valid JSON.
func (w *Writer) Valid(raw json.RawMessage) bool { return w.Wrote(raw) || Valid(raw) }

// SplitObject reads an object that must be valid JSON.
func (w *Writer) SplitObject(valid json.RawMessage) (Object, error) {
	if w != nil && len(valid) > 0 {
		if o, wrote := w.objects[&valid[0]]; wrote {
			return o, nil
		}
	}
	return SplitObject(valid)
}

// SplitArray reads an array that must be valid JSON.
func (w *Writer) SplitArray(valid json.RawMessage) ([]json.RawMessage, error) {
	if w != nil && len(valid) > 0 {
		if elements, wrote := w.arrays[&valid[0]]; wrote {
			return elements, nil
		}
	}
	return SplitArray(valid)
}
