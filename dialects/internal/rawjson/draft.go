package rawjson

import "encoding/json"

// Draft is an object that is not written yet, down to one of its fields: a text, an object, or an array of objects. Once it
// is written, each of its texts was written once, in its place, at whatever depth it stands.
type Draft struct {
	// written is the object as JSON, where that is known already.
	written json.RawMessage
	object  Object
	// key is the field that object lacks; "" where it lacks none. Its value is inner, elements or text.
	key      string
	text     string
	inner    *Draft
	elements []Draft
	isArray  bool
}

// Written returns the draft of an object that is JSON already.
func Written(raw json.RawMessage) Draft { return Draft{written: raw} }

// Whole returns the draft of an object that lacks nothing.
func Whole(o Object) Draft { return Draft{object: o} }

// WithText returns the draft of an object with one more field, a text.
func WithText(o Object, key, text string) Draft { return Draft{object: o, key: key, text: text} }

// WithObject returns the draft of an object with one more field, an object. Where that one is JSON already, it is read as
// JSON in its new place.
func WithObject(o Object, key string, inner Draft) Draft {
	return Draft{object: o, key: key, inner: &inner}
}

// WithArray returns the draft of an object with one more field, an array of objects.
func WithArray(o Object, key string, elements []Draft) Draft {
	return Draft{object: o, key: key, elements: elements, isArray: true}
}

// Object returns the fields of a draft that are known before it is written. It is nil where the draft was made of JSON.
func (d *Draft) Object() Object { return d.object }

// Text returns the text that is added to the object; "" where another value is.
func (d *Draft) Text() string { return d.text }

// Write returns a draft as JSON. All of its objects belong to the Writer then, and have all of their fields.
func (w *Writer) Write(d Draft) json.RawMessage {
	// A message of one text has two places, one of a result has three.
	raw, places := d.appendTo(make([]byte, 0, d.size()), make([]place, 0, 4))
	object, _ := w.learn(&d, raw, places)
	return object
}

// size returns about how many bytes a draft has as JSON.
func (d *Draft) size() int {
	if d.written != nil {
		return len(d.written)
	}
	size := d.object.size() + len(d.key) + 4
	switch {
	case d.isArray:
		for i := range d.elements {
			size += d.elements[i].size() + 1
		}
	case d.inner != nil:
		size += d.inner.size()
	case d.key != "":
		size += textSize(d.text)
	}
	return size
}

// place is where a draft and the value of its key were written.
type place struct{ start, end, valueStart, valueEnd int }

// appendTo appends a draft, and its place and those of the drafts in it, from the outermost in.
func (d *Draft) appendTo(b []byte, places []place) ([]byte, []place) {
	if d.written != nil {
		return append(b, d.written...), places
	}
	at := len(places)
	places = append(places, place{start: len(b)})
	if d.key != "" {
		d.object[d.key] = nil
	}
	b = d.object.appendFields(b, func(b []byte, key string) []byte {
		if key != d.key {
			return append(b, d.object[key]...)
		}
		places[at].valueStart = len(b)
		b, places = d.appendValue(b, places)
		places[at].valueEnd = len(b)
		return b
	})
	places[at].end = len(b)
	return b, places
}

func (d *Draft) appendValue(b []byte, places []place) ([]byte, []place) {
	switch {
	case d.isArray:
		b = append(b, '[')
		for i := range d.elements {
			if i > 0 {
				b = append(b, ',')
			}
			b, places = d.elements[i].appendTo(b, places)
		}
		return append(b, ']'), places
	case d.inner != nil:
		return d.inner.appendTo(b, places)
	default:
		return appendText(b, d.text), places
	}
}

// learn completes the objects of a draft that was written, tells the Writer what they are, and returns the draft's JSON and
// the places behind its own.
func (w *Writer) learn(d *Draft, raw []byte, places []place) (json.RawMessage, []place) {
	if d.written != nil {
		return d.written, places
	}
	at, places := places[0], places[1:]
	if d.key != "" {
		value := json.RawMessage(raw[at.valueStart:at.valueEnd:at.valueEnd])
		d.object[d.key] = value
		switch {
		case d.isArray:
			elements := make([]json.RawMessage, len(d.elements))
			for i := range d.elements {
				elements[i], places = w.learn(&d.elements[i], raw, places)
			}
			w.knowArray(elements, value)
		case d.inner != nil:
			_, places = w.learn(d.inner, raw, places)
		}
	}
	return w.know(d.object, raw[at.start:at.end:at.end]), places
}
