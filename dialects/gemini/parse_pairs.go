package gemini

import (
	"cmp"
	"math"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// placedResult is a result with its position among the parts of its content.
type placedResult struct {
	at   int
	part *compactordv1.Part
	// call is the position of the call that it answers, or math.MaxInt where there is none.
	call int
}

// openCalls are the calls of the model's last content, by position. Responses find their calls by id. Where either has
// no id, they find them by name and order, since many clients leave out ids.
type openCalls struct {
	ids      []string
	answered []bool
	// byID and byName are the positions of the calls with an id or a name, ascending. unnamed are those of calls without
	// an id.
	byID, byName, unnamed map[string][]int
}

func openCallsOf(m *compactordv1.Message) openCalls {
	o := openCalls{byID: make(map[string][]int), byName: make(map[string][]int), unnamed: make(map[string][]int)}
	for _, p := range m.GetParts() {
		call := p.GetToolCall()
		if call == nil {
			continue
		}
		at, id, name := len(o.ids), call.GetId(), call.GetName()
		o.ids, o.answered = append(o.ids, id), append(o.answered, false)
		o.byName[name] = append(o.byName[name], at)
		if id == "" {
			o.unnamed[name] = append(o.unnamed[name], at)
		} else {
			o.byID[id] = append(o.byID[id], at)
		}
	}
	return o
}

// pair gives results the ids of the calls that they answer. It sorts the results of calls without ids by the order of
// the calls, since only the order will connect them later. It reports whether that changed their order.
func (o *openCalls) pair(results []placedResult) (reordered bool) {
	nameless := false
	for i := range results {
		results[i].call = o.answeredBy(results[i].part)
		nameless = nameless || results[i].call != math.MaxInt && o.ids[results[i].call] == ""
	}
	byCall := func(a, b placedResult) int { return cmp.Compare(a.call, b.call) }
	if !nameless || slices.IsSortedFunc(results, byCall) {
		return false
	}
	slices.SortStableFunc(results, byCall)
	return true
}

// answeredBy returns the position of the call that a result answers, and closes the call.
func (o *openCalls) answeredBy(p *compactordv1.Part) int {
	r := p.GetToolResult()
	at := o.next(o.byName, r.GetName())
	if r.GetCallId() != "" {
		if at = o.next(o.byID, r.GetCallId()); at == math.MaxInt {
			at = o.next(o.unnamed, r.GetName())
		}
	}
	if at == math.MaxInt {
		return at
	}
	o.answered[at] = true
	if o.ids[at] == "" && r.GetCallId() != "" && !hasAttachment(p.GetAttachments(), fieldResponse+".id") {
		p.Attachments = append(p.Attachments, &compactordv1.Attachment{
			Dialect: kind, Key: fieldResponse + ".id", Json: string(rawjson.Quote(r.GetCallId())),
		})
	}
	r.CallId = o.ids[at]
	return at
}

// next returns the first call of a list without a result. It removes answered calls from the list.
func (o *openCalls) next(lists map[string][]int, key string) int {
	list := lists[key]
	for len(list) > 0 && o.answered[list[0]] {
		list = list[1:]
	}
	if lists != nil {
		lists[key] = list
	}
	if len(list) == 0 {
		return math.MaxInt
	}
	return list[0]
}
