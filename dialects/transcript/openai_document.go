package transcript

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	bodyField = leftOut("field beside the messages", "fields beside the messages")

	errForeignSystem = errors.New("requests of OpenAI's shape have no such field; its text belongs into a message of role system")
	errTwice         = errors.New("is there twice")
)

// openAIDocument reads the messages of one JSON document: an array, or a request body with `messages`.
type openAIDocument struct {
	feed    *elements
	notes   *noteCounter
	element int
	counts  lineCounts
}

func newOpenAIBody(in *lines) *openAIDocument {
	return &openAIDocument{notes: in.notes, feed: newElements(in, "messages", func(key string, value json.RawMessage) error {
		if key == "system" && rawjson.KindOf(value) != rawjson.Null {
			return errForeignSystem
		}
		in.notes.add(bodyField)
		return nil
	})}
}

func (s *openAIDocument) unit() unit { return unitElement }

func (s *openAIDocument) next() (entry, error) {
	for {
		raw, err := s.feed.next()
		at := s.element
		s.element++
		if err != nil {
			return entry{}, err
		}
		o, err := rawjson.ParseObject(raw)
		if err != nil {
			return entry{}, s.feed.on(err)
		}
		e, ok, err := openAIEntry(o, raw, at, &s.counts, s.notes)
		if err != nil {
			return entry{}, s.feed.on(err)
		}
		if ok {
			return e, nil
		}
	}
}
