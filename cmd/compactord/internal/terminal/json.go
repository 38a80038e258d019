package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// APIJSON encodes a message of the API with the contract's field names; nil as null.
type APIJSON struct {
	proto.Message
	// zeros includes fields without presence that are zero, false or empty, so that programs need not know the
	// defaults. Views leave them out, since their many parts would become long.
	zeros bool
}

// WholeAnswer encodes an answer of the API with its zeros.
func WholeAnswer(m proto.Message) APIJSON { return APIJSON{m, true} }

// WholeAnswers encodes messages of the API as a JSON array, with their zeros.
func WholeAnswers[M proto.Message](messages []M) []APIJSON {
	list := make([]APIJSON, len(messages))
	for i, m := range messages {
		list[i] = WholeAnswer(m)
	}
	return list
}

// MarshalJSON removes the white space that protojson varies on purpose.
func (m APIJSON) MarshalJSON() ([]byte, error) {
	if m.Message == nil || !m.ProtoReflect().IsValid() {
		return []byte("null"), nil
	}
	raw, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: m.zeros}.Marshal(m.Message)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, raw)
	return compact.Bytes(), err
}

// APIList encodes messages of the API as a JSON array, without their zeros.
func APIList[M proto.Message](messages []M) []APIJSON {
	list := make([]APIJSON, len(messages))
	for i, m := range messages {
		list[i] = APIJSON{Message: m}
	}
	return list
}

// Optional encodes a message; nil, which leaves it out of a document, where it is not set.
func Optional[M proto.Message](m M) *APIJSON {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	return &APIJSON{Message: m}
}

// PrintJSON prints an indented JSON document.
func PrintJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// The output is not HTML: keep <, > and & readable.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("cannot write the JSON document: %w", err)
	}
	return nil
}
