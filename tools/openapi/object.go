package openapi

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order, which is that of the contract.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	text := bytes.NewBufferString("{")
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := encoder.Encode(m.name); err != nil {
			return nil, err
		}
		text.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

func (o object) with(more ...member) object { return append(o, more...) }
