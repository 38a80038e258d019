package rawjson

import (
	"encoding/json"
	"slices"
)

// Pieces joins pieces of one JSON string without decoding them. A surrogate pair that was split between two pieces is
// whole again.
type Pieces struct{ inner []byte }

// Add adds a piece. A value that is no string adds nothing.
func (p *Pieces) Add(piece json.RawMessage) {
	if KindOf(piece) == String && len(piece) >= 2 {
		p.inner = append(p.inner, piece[1:len(piece)-1]...)
	}
}

// Value returns the string so far.
func (p *Pieces) Value() json.RawMessage {
	return append(append(append(make(json.RawMessage, 0, len(p.inner)+2), '"'), p.inner...), '"')
}

// JoinRule says which fields of an object that comes in pieces are themselves in pieces. Of any other field the first
// value counts that is neither null nor an empty text. Of a field in Latest the last value counts.
type JoinRule struct {
	// Texts are joined.
	Texts []string
	// Latest are replaced by later values.
	Latest []string
	// Objects come in pieces themselves.
	Objects map[string]*JoinRule
	// Lists hold elements that come in pieces, with their position in the field `index`.
	Lists map[string]*ListRule
}

// ListRule says how to join the elements of a list.
type ListRule struct {
	// Element is the rule of an element.
	Element *JoinRule
	// KeepIndex leaves the field `index` in the elements.
	KeepIndex bool
	// Continued are types of elements. Neighbours of such a type without an index and an id are pieces of one element.
	Continued []string
}

// Join is an object while its pieces are joined.
type Join struct {
	rule    *JoinRule
	fields  Object
	texts   map[string]*Pieces
	objects map[string]*Join
	lists   map[string]*listJoin
}

// NewJoin returns an empty object with this rule.
func NewJoin(rule *JoinRule) *Join {
	return &Join{
		rule: rule, fields: make(Object), texts: make(map[string]*Pieces), objects: make(map[string]*Join),
		lists: make(map[string]*listJoin),
	}
}

// Add adds a piece of an object, which must be valid JSON.
func (j *Join) Add(piece Object) error {
	for key, value := range piece {
		if err := j.add(key, value); err != nil {
			return In(key, err)
		}
	}
	return nil
}

func (j *Join) add(key string, value json.RawMessage) error {
	switch k := KindOf(value); {
	case k == String && slices.Contains(j.rule.Texts, key):
		if j.texts[key] == nil {
			j.texts[key] = &Pieces{}
		}
		j.texts[key].Add(value)
	case k == ObjectKind && j.rule.Objects[key] != nil:
		if j.objects[key] == nil {
			j.objects[key] = NewJoin(j.rule.Objects[key])
		}
		inner, err := SplitObject(value)
		if err != nil {
			return err
		}
		return j.objects[key].Add(inner)
	case k == Array && j.rule.Lists[key] != nil:
		if j.lists[key] == nil {
			j.lists[key] = &listJoin{rule: j.rule.Lists[key], byIndex: make(map[string]int)}
		}
		return j.lists[key].add(value)
	case !hasContent(j.fields[key]), hasContent(value) && slices.Contains(j.rule.Latest, key):
		if j.fields[key] == nil || KindOf(value) != Null {
			j.fields[key] = value
		}
	}
	return nil
}

// hasContent reports whether a value is neither null nor an empty text.
func hasContent(value json.RawMessage) bool {
	k := KindOf(value)
	return k != Missing && k != Null && string(value) != `""`
}

// Object returns the object so far.
func (j *Join) Object() Object {
	o := make(Object, len(j.fields))
	for key, value := range j.fields {
		o[key] = value
	}
	for key, text := range j.texts {
		o[key] = text.Value()
	}
	for key, inner := range j.objects {
		o[key] = inner.Object().Encode()
	}
	for key, list := range j.lists {
		o[key] = EncodeArray(list.elements())
	}
	return o
}

// listJoin is a list whose elements come in pieces.
type listJoin struct {
	rule *ListRule
	all  []*Join
	// byIndex holds the position of the newest element with each index, as the index is written.
	byIndex map[string]int
}

func (l *listJoin) add(list json.RawMessage) error {
	pieces, err := SplitArray(list)
	if err != nil {
		return err
	}
	for i, raw := range pieces {
		piece, err := SplitObject(raw)
		if err != nil {
			return InElement(i, err)
		}
		if err := l.element(piece).Add(piece); err != nil {
			return InElement(i, err)
		}
	}
	return nil
}

// element returns the element that a piece belongs to: the newest with its index or, where the piece has no index, the
// newest of all. Some providers give all elements the index 0. So another id or type than before begins another
// element.
func (l *listJoin) element(piece Object) *Join {
	index := string(piece["index"])
	at, found := len(l.all)-1, len(l.all) > 0
	switch {
	case piece.Has("index"):
		at, found = l.byIndex[index]
	case !hasContent(piece["id"]) && hasContent(piece["type"]):
		found = found && slices.ContainsFunc(l.rule.Continued, func(typ string) bool { return piece.IsText("type", typ) })
	}
	if !l.rule.KeepIndex {
		delete(piece, "index")
	}
	if found && !differs(l.all[at], piece, "id") && !differs(l.all[at], piece, "type") {
		return l.all[at]
	}
	l.all = append(l.all, NewJoin(l.rule.Element))
	l.byIndex[index] = len(l.all) - 1
	return l.all[len(l.all)-1]
}

func differs(j *Join, piece Object, key string) bool {
	return hasContent(j.fields[key]) && hasContent(piece[key]) && string(j.fields[key]) != string(piece[key])
}

func (l *listJoin) elements() []json.RawMessage {
	elements := make([]json.RawMessage, len(l.all))
	for i, j := range l.all {
		elements[i] = j.Object().Encode()
	}
	return elements
}
