package rawjson

import (
	"encoding/json"
	"slices"
)

// Pieces puts one JSON string together of several, as they are written: nothing is decoded, and a surrogate pair that was
// taken apart between two pieces is whole again.
type Pieces struct{ inner []byte }

// Add adds a piece. What is no string adds nothing.
func (p *Pieces) Add(piece json.RawMessage) {
	if KindOf(piece) == String && len(piece) >= 2 {
		p.inner = append(p.inner, piece[1:len(piece)-1]...)
	}
}

// Value is the string so far.
func (p *Pieces) Value() json.RawMessage {
	return append(append(append(make(json.RawMessage, 0, len(p.inner)+2), '"'), p.inner...), '"')
}

// JoinRule says which fields of an object that came in pieces are in pieces themselves. Of all other fields the first
// value counts that is neither null nor an empty text, or the last one where Latest names it.
type JoinRule struct {
	// Texts follow one another.
	Texts []string
	// Latest are replaced by what comes later.
	Latest []string
	// Objects are in pieces themselves.
	Objects map[string]*JoinRule
	// Lists hold elements that are in pieces, by their field `index`.
	Lists map[string]*ListRule
}

// ListRule says how the elements of a list are put together.
type ListRule struct {
	// Element is the rule of an element.
	Element *JoinRule
	// KeepIndex leaves the field `index` in the elements.
	KeepIndex bool
	// Continued are the types of which neighbours without an index and an id are pieces of one element.
	Continued []string
}

// Join is an object while it is put together of pieces.
type Join struct {
	rule    *JoinRule
	fields  Object
	texts   map[string]*Pieces
	objects map[string]*Join
	lists   map[string]*listJoin
}

// NewJoin begins an object.
func NewJoin(rule *JoinRule) *Join {
	return &Join{
		rule: rule, fields: make(Object), texts: make(map[string]*Pieces), objects: make(map[string]*Join),
		lists: make(map[string]*listJoin),
	}
}

// Add adds a piece of an object that is known to be valid JSON.
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
	case !saysSomething(j.fields[key]), saysSomething(value) && slices.Contains(j.rule.Latest, key):
		if j.fields[key] == nil || KindOf(value) != Null {
			j.fields[key] = value
		}
	}
	return nil
}

// saysSomething is whether a value is more than null or an empty text.
func saysSomething(value json.RawMessage) bool {
	k := KindOf(value)
	return k != Missing && k != Null && string(value) != `""`
}

// Object is the object so far.
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
	// byIndex is where the newest element of an index stands; the index is as it is written.
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

// element is what a piece belongs to: the newest element of its index, or the newest of all where it has none. Some
// providers count all elements as 0: another id or type than before begins another element.
func (l *listJoin) element(piece Object) *Join {
	index := string(piece["index"])
	at, found := len(l.all)-1, len(l.all) > 0
	switch {
	case piece.Has("index"):
		at, found = l.byIndex[index]
	case !saysSomething(piece["id"]) && saysSomething(piece["type"]):
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
	return saysSomething(j.fields[key]) && saysSomething(piece[key]) && string(j.fields[key]) != string(piece[key])
}

func (l *listJoin) elements() []json.RawMessage {
	elements := make([]json.RawMessage, len(l.all))
	for i, j := range l.all {
		elements[i] = j.Object().Encode()
	}
	return elements
}
