package rawjson

import "encoding/json"

// SplitObject reads an object that must be valid JSON, such as a value in what ParseObject read. It does not decode the
// values. Reading a whole tree therefore takes the time of one reading, not of one for each level.
func SplitObject(valid json.RawMessage) (Object, error) {
	if KindOf(valid) != ObjectKind {
		return nil, WrongKind(valid, ObjectKind)
	}
	o := make(Object)
	s := splitter{raw: valid, at: 1}
	for {
		name := s.next()
		if name == nil {
			return o, nil
		}
		key, err := textOf(name)
		value := s.next()
		if err != nil || value == nil {
			return nil, ErrNotJSON
		}
		o[key] = value
	}
}

// SplitArray reads an array that must be valid JSON.
func SplitArray(valid json.RawMessage) ([]json.RawMessage, error) {
	if KindOf(valid) != Array {
		return nil, WrongKind(valid, Array)
	}
	elements := []json.RawMessage{}
	s := splitter{raw: valid, at: 1}
	for {
		element := s.next()
		if element == nil {
			return elements, nil
		}
		elements = append(elements, element)
	}
}

// SplitSub returns an inner object of valid JSON. It is nil where the field is missing or null.
func (o Object) SplitSub(key string) (Object, error) {
	if !o.Has(key) {
		return nil, nil
	}
	inner, err := SplitObject(o[key])
	return inner, In(key, err)
}

// SplitElements returns the elements of an array in valid JSON. There are none where the field is missing or null.
func (o Object) SplitElements(key string) ([]json.RawMessage, error) {
	if !o.Has(key) {
		return nil, nil
	}
	elements, err := SplitArray(o[key])
	return elements, In(key, err)
}

// EachIndexed visits the objects of an array in valid JSON, each with the number in its field index.
func (o Object) EachIndexed(key string, visit func(index uint32, element Object) error) error {
	elements, err := o.SplitElements(key)
	if err != nil {
		return err
	}
	for i, raw := range elements {
		element, err := SplitObject(raw)
		var index uint32
		if err == nil {
			index, err = element.Count("index")
		}
		if err == nil {
			err = visit(index, element)
		}
		if err != nil {
			return In(key, InElement(i, err))
		}
	}
	return nil
}

// splitter reads the values of one object or array.
type splitter struct {
	raw json.RawMessage
	at  int
}

// next returns the next key or value, or nil at the end.
func (s *splitter) next() json.RawMessage {
	for s.at < len(s.raw) && separates(s.raw[s.at]) {
		s.at++
	}
	start := s.at
	s.skipValue()
	if s.at == start {
		return nil
	}
	return s.raw[start:s.at:s.at]
}

func (s *splitter) skipValue() {
	depth := 0
	for s.at < len(s.raw) {
		switch c := s.raw[s.at]; c {
		case '"':
			s.skipString()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			s.at++
		default:
			if depth == 0 && separates(c) {
				return
			}
			s.at++
			continue
		}
		if depth == 0 {
			return
		}
	}
}

func (s *splitter) skipString() {
	for s.at++; s.at < len(s.raw); s.at++ {
		switch s.raw[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
	s.at = len(s.raw)
}

func separates(c byte) bool {
	return c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}
