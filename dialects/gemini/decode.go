package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// judged is a list as the rules see it.
type judged struct {
	system   []json.RawMessage
	contents []judgedContent
	// flaws are the places where the list has not the shape to be judged.
	flaws []flaw
	// batches are the contents with calls, with the responses behind them.
	batches []batch
}

type flaw struct {
	message, part int
	detail        string
}

type judgedContent struct {
	fields rawjson.Object
	// role is that of the content; user where it has none.
	role  string
	parts []judgedPart
	// unread says that there may be more parts than could be read.
	unread bool
}

// judgedPart is a part; where it is a call, a response or a medium, inner is the object that says so.
type judgedPart struct {
	at     int
	fields rawjson.Object
	inner  rawjson.Object
	field  string
	// id and name are those of a call or a response.
	id, name string
}

// aliases are the fields of parts that the API knows by two names.
var aliases = map[string]string{
	fieldCall: "function_call", fieldResponse: "function_response", fieldInline: "inline_data", fieldFile: "file_data",
}

func judge(list *dialect.List) *judged {
	j := &judged{system: list.System, contents: make([]judgedContent, len(list.Messages))}
	for at, raw := range list.Messages {
		j.contents[at] = j.content(at, raw)
	}
	for at := range j.contents {
		if calls := j.contents[at].of(fieldCall); len(calls) > 0 {
			j.batches = append(j.batches, j.batch(at, calls))
		}
	}
	return j
}

func (j *judged) flaw(message, part int, detail string) {
	j.flaws = append(j.flaws, flaw{message: message, part: part, detail: detail})
}

func (j *judged) content(at int, raw json.RawMessage) judgedContent {
	c := judgedContent{role: roleUser}
	fields, err := rawjson.ParseObject(raw)
	if err != nil {
		j.flaw(at, 0, "the content is no object")
		c.unread = true
		return c
	}
	c.fields = fields
	if c.role, err = fields.Text("role"); err != nil {
		j.flaw(at, 0, "the role is no string")
	}
	if err != nil || !fields.Has("role") {
		c.role = roleUser
	}
	elements, err := elementsOf(fields, "parts")
	if err != nil {
		j.flaw(at, 0, "the parts are no list")
		c.unread = true
	}
	for i, element := range elements {
		part, read := j.part(at, i, element)
		if !read {
			c.unread = true
			continue
		}
		c.parts = append(c.parts, part)
	}
	return c
}

func (j *judged) part(at, i int, raw json.RawMessage) (judgedPart, bool) {
	fields, err := rawjson.SplitObject(raw)
	if err != nil {
		j.flaw(at, i, "the part is no object")
		return judgedPart{}, false
	}
	p := judgedPart{at: i, fields: fields}
	if fields.Has(fieldText) && rawjson.KindOf(fields[fieldText]) != rawjson.String {
		j.flaw(at, i, "the text is no string")
	}
	for _, field := range []string{fieldCall, fieldResponse, fieldInline, fieldFile} {
		value := either(fields, field, aliases[field])
		if value == nil {
			continue
		}
		if p.field = field; rawjson.KindOf(value) != rawjson.ObjectKind {
			j.flaw(at, i, "the "+field+" is no object")
			continue
		}
		p.inner, _ = rawjson.SplitObject(value)
		j.names(at, &p)
		return p, true
	}
	return p, true
}

func (j *judged) names(at int, p *judgedPart) {
	if p.field != fieldCall && p.field != fieldResponse {
		return
	}
	var errID, errName, errParts error
	p.id, errID = p.inner.Text("id")
	p.name, errName = p.inner.Text("name")
	if p.field == fieldResponse {
		_, errParts = elementsOf(p.inner, "parts")
	}
	if errID != nil || errName != nil {
		j.flaw(at, p.at, "the id or the name of the "+p.field+" is no string")
	}
	if errParts != nil {
		j.flaw(at, p.at, "the parts of the "+p.field+" are no list")
	}
}

// of returns the parts of a content that have a field.
func (c judgedContent) of(field string) []judgedPart {
	var parts []judgedPart
	for _, p := range c.parts {
		if p.field == field && p.inner != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// batch is a content with calls, and what the content behind it answers.
type batch struct {
	at int
	// last says that the content behind it is the last one, or that there is none.
	last, none bool
	// missing are the parts of calls without an answer.
	missing []int
	// misnamed are the parts of responses whose id is that of a call and whose name is not.
	misnamed []int
	// needless are the parts of responses that answer no call.
	needless map[int]bool
}

func (j *judged) batch(at int, calls []judgedPart) batch {
	b := batch{at: at, needless: make(map[int]bool), none: at+1 >= len(j.contents), last: at+2 >= len(j.contents)}
	if b.none {
		return b
	}
	open := make(map[string][]judgedPart)
	for _, call := range calls {
		open[matching(call)] = append(open[matching(call)], call)
	}
	for _, response := range j.contents[at+1].of(fieldResponse) {
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

// matching is what a call and its response have in common: the id, or the name where they have none.
func matching(p judgedPart) string {
	if p.id != "" {
		return "id " + p.id
	}
	return "name " + p.name
}
