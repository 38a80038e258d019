package openairesponses

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// eventPrefix begins the types of all events but the error that ends a stream.
const eventPrefix = "response."

// isEvent tells an event of a stream from an item.
func isEvent(raw json.RawMessage) bool {
	o, err := rawjson.SplitObject(raw)
	if err != nil || o.Has("role") {
		return false
	}
	typ, err := o.Text("type")
	return err == nil && (strings.HasPrefix(typ, eventPrefix) || typ == "error")
}

// lastEvents are those that hold the whole response.
var lastEvents = []string{"response.completed", "response.incomplete", "response.failed", "response.cancelled"}

// stream is a streamed response while its events are put together.
type stream struct {
	// response is the newest response that an event holds.
	response rawjson.Object
	items    map[uint32]*streamedItem
	isWhole  bool
	ending   dialect.Ending
}

// openStream puts the events of a stream together to what its response's body would have been.
func openStream(events []json.RawMessage) (*envelope, error) {
	s := &stream{response: make(rawjson.Object), items: make(map[uint32]*streamedItem)}
	for i, raw := range events {
		if err := s.event(raw); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	e := &envelope{response: s.response, ending: s.ending}
	if s.response.Has(fieldOutput) {
		var err error
		if e.items, err = rawjson.SplitArray(s.response[fieldOutput]); err != nil {
			return nil, rawjson.In(fieldOutput, err)
		}
	}
	// Some servers leave the output out of the last event, and only tell of each item.
	if !s.isWhole || len(e.items) == 0 {
		e.items = s.joined()
	}
	e.ending.Cut = !s.isWhole && !s.ending.Failed
	return e, nil
}

func (s *stream) event(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	typ, err := o.DemandText("type")
	if err != nil {
		return err
	}
	switch {
	case typ == "error":
		if s.ending.Fail(raw); o.Has("error") {
			s.ending.Fail(o["error"])
		}
		return nil
	case !strings.HasPrefix(typ, eventPrefix):
		if o.Has("role") || o.Has("id") || o.Has("call_id") {
			return dialect.ErrMixed
		}
		return nil
	case o.Has("response"):
		return s.told(o, typ)
	}
	return s.piece(o, strings.TrimPrefix(typ, eventPrefix))
}

// told takes what an event says of the response as a whole.
func (s *stream) told(o rawjson.Object, typ string) error {
	response, err := rawjson.SplitObject(o["response"])
	if err != nil {
		return rawjson.In("response", err)
	}
	if !s.isWhole {
		s.response, s.isWhole = response, slices.Contains(lastEvents, typ)
	}
	return nil
}

// piece takes what an event says of an item. Events of other things, such as the progress of a search, tell nothing that
// the item does not.
func (s *stream) piece(o rawjson.Object, typ string) error {
	switch typ {
	case "output_item.added", "output_item.done":
		fields, err := rawjson.SplitObject(o["item"])
		if err != nil {
			return rawjson.In("item", err)
		}
		item, err := s.itemOf(o)
		if err != nil {
			return err
		}
		item.fields, item.isDone = fields, item.isDone || typ == "output_item.done"
		return nil
	}
	p, known := pieceEvents[typ]
	if !known {
		return nil
	}
	item, err := s.itemOf(o)
	if err != nil {
		return err
	}
	return item.add(o, p)
}

// itemOf is the item that an event is of.
func (s *stream) itemOf(o rawjson.Object) (*streamedItem, error) {
	index, err := o.Count("output_index")
	if err != nil {
		return nil, err
	}
	if s.items[index] == nil {
		s.items[index] = &streamedItem{texts: make(map[textPlace]*rawjson.Pieces)}
	}
	return s.items[index], nil
}

// joined are the items so far, those that were not finished with what there is of them.
func (s *stream) joined() []json.RawMessage {
	var items []json.RawMessage
	for _, index := range slices.Sorted(maps.Keys(s.items)) {
		if item := s.items[index]; item.fields != nil {
			items = append(items, item.object().Encode())
		}
	}
	return items
}
