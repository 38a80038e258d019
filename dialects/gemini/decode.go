package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// decoded is a list that was decoded for the checks, from its JSON and from what its Writer knows.
type decoded struct {
	by *dialect.Writer
	// rest reports that another part of the list comes before.
	rest     bool
	system   []json.RawMessage
	contents []decodedContent
	// shapeErrors are the places where the list differs from the shape in the reference.
	shapeErrors []shapeError
	// batches are the contents with calls, each with the responses in the content after it.
	batches []batch
}

type shapeError struct {
	message, part int
	detail        string
}

type decodedContent struct {
	fields rawjson.Object
	// role is the content's role, or user where it has none.
	role  string
	parts []decodedPart
	// broken reports that there can be more parts than could be decoded.
	broken bool
}

// decodedPart is a part. Where it is a call, a response or a medium, inner is its inner object.
type decodedPart struct {
	at     int
	fields rawjson.Object
	inner  rawjson.Object
	field  string
	// id and name belong to a call or a response.
	id, name string
}

func decode(list *dialect.List, by *dialect.Writer) *decoded {
	d := &decoded{
		by: by, rest: list.Before.Messages > 0, system: list.System, contents: make([]decodedContent, len(list.Messages)),
	}
	for at, raw := range list.Messages {
		d.contents[at] = d.decodeContent(at, raw)
	}
	for at := range d.contents {
		if calls := d.contents[at].of(fieldCall); len(calls) > 0 {
			d.batches = append(d.batches, d.pairBatch(at, calls))
		}
	}
	return d
}

func (d *decoded) wrongShape(message, part int, detail string) {
	d.shapeErrors = append(d.shapeErrors, shapeError{message: message, part: part, detail: detail})
}

func (d *decoded) decodeContent(at int, raw json.RawMessage) decodedContent {
	c := decodedContent{role: roleUser}
	fields, err := d.object(raw)
	if err != nil {
		d.wrongShape(at, 0, "the content is no object")
		c.broken = true
		return c
	}
	c.fields = fields
	if c.role, err = fields.Text("role"); err != nil {
		d.wrongShape(at, 0, "the role is no string")
	}
	if err != nil || !fields.Has("role") {
		c.role = roleUser
	}
	elements, err := d.partsOf(fields)
	if err != nil {
		d.wrongShape(at, 0, "the parts are no list")
		c.broken = true
	}
	for i, element := range elements {
		part, read := d.decodePart(at, i, element)
		if !read {
			c.broken = true
			continue
		}
		c.parts = append(c.parts, part)
	}
	return c
}

// object reads an object that can be invalid JSON.
func (d *decoded) object(raw json.RawMessage) (rawjson.Object, error) {
	if d.by.Wrote(raw) {
		return d.by.SplitObject(raw)
	}
	return rawjson.ParseObject(raw)
}

// partsOf returns the parts of a content or a response. There are none where the field is missing or null.
func (d *decoded) partsOf(o rawjson.Object) ([]json.RawMessage, error) {
	if !o.Has("parts") {
		return nil, nil
	}
	return d.by.SplitArray(o["parts"])
}

func (d *decoded) decodePart(at, i int, raw json.RawMessage) (decodedPart, bool) {
	fields, err := d.by.SplitObject(raw)
	if err != nil {
		d.wrongShape(at, i, "the part is no object")
		return decodedPart{}, false
	}
	p := decodedPart{at: i, fields: fields}
	if fields.Has(fieldText) && rawjson.KindOf(fields[fieldText]) != rawjson.String {
		d.wrongShape(at, i, "the text is no string")
	}
	for _, field := range []string{fieldCall, fieldResponse, fieldInline, fieldFile} {
		value := either(fields, field, aliases[field])
		if value == nil {
			continue
		}
		if p.field = field; rawjson.KindOf(value) != rawjson.ObjectKind {
			d.wrongShape(at, i, "the "+field+" is no object")
			continue
		}
		p.inner, _ = d.by.SplitObject(value)
		d.decodeNames(at, &p)
		return p, true
	}
	return p, true
}

func (d *decoded) decodeNames(at int, p *decodedPart) {
	if p.field != fieldCall && p.field != fieldResponse {
		return
	}
	var errID, errName, errParts error
	p.id, errID = p.inner.Text("id")
	p.name, errName = p.inner.Text("name")
	if p.field == fieldResponse {
		_, errParts = d.partsOf(p.inner)
	}
	if errID != nil || errName != nil {
		d.wrongShape(at, p.at, "the id or the name of the "+p.field+" is no string")
	}
	if errParts != nil {
		d.wrongShape(at, p.at, "the parts of the "+p.field+" are no list")
	}
}

// of returns the parts of a content that have a field.
func (c decodedContent) of(field string) []decodedPart {
	var parts []decodedPart
	for _, p := range c.parts {
		if p.field == field && p.inner != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// batch is a content with calls, and the check of the responses in the content after it.
type batch struct {
	at int
	// last reports that the content after it is the last one, and none that there is no content after it.
	last, none bool
	// missing are the positions of calls without a response.
	missing []int
	// misnamed are the positions of responses with the id of a call but another name.
	misnamed []int
	// needless are the positions of responses that answer no call.
	needless map[int]bool
}

func (d *decoded) pairBatch(at int, calls []decodedPart) batch {
	b := batch{at: at, needless: make(map[int]bool), none: at+1 >= len(d.contents), last: at+2 >= len(d.contents)}
	if b.none {
		return b
	}
	open := make(map[string][]decodedPart)
	for _, call := range calls {
		open[matching(call)] = append(open[matching(call)], call)
	}
	for _, response := range d.contents[at+1].of(fieldResponse) {
		waiting := open[matching(response)]
		if len(waiting) == 0 {
			b.needless[response.at] = true
			continue
		}
		if waiting[0].name != response.name {
			b.misnamed = append(b.misnamed, response.at)
		}
		open[matching(response)] = waiting[1:]
	}
	for _, call := range calls {
		if waiting := open[matching(call)]; len(waiting) > 0 && waiting[0].at == call.at {
			b.missing, open[matching(call)] = append(b.missing, call.at), waiting[1:]
		}
	}
	return b
}

// matching returns what a call and its response have in common: the id, or the name where they have no id.
func matching(p decodedPart) string {
	if p.id != "" {
		return "id " + p.id
	}
	return "name " + p.name
}

func (d *decoded) eachPart(check func(at int, p decodedPart)) {
	for at, c := range d.contents {
		for _, p := range c.parts {
			check(at, p)
		}
	}
}
