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

// Answer encodes a message of the API, without its zeros.
func Answer(m proto.Message) APIJSON { return APIJSON{Message: m} }

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
func PrintJSON(w io.Writer, document any) error { return encodeJSON(w, "", document) }

func encodeJSON(w io.Writer, prefix string, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent(prefix, "  ")
	// The output is not HTML: keep <, > and & readable.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return jsonUnwritten(err)
	}
	return nil
}

func jsonUnwritten(err error) error { return fmt.Errorf("cannot write the JSON document: %w", err) }

// PrintJSONWith prints an object, which has fields, as PrintJSON does, with one more field at its end: a list of which one element
// is held at a time. each calls add with every element.
func PrintJSONWith(w io.Writer, object any, field string, each func(add func(element any) error) error) error {
	var b bytes.Buffer
	if err := encodeJSON(&b, "", object); err != nil {
		return err
	}
	b.Truncate(b.Len() - len("\n}\n"))
	fmt.Fprintf(&b, ",\n  %q: [", field)
	separator, end := "\n    ", "]\n}\n"
	flush := func() error {
		if _, err := b.WriteTo(w); err != nil {
			return jsonUnwritten(err)
		}
		return nil
	}
	err := each(func(element any) error {
		b.WriteString(separator)
		if err := encodeJSON(&b, "    ", element); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1)
		separator, end = ",\n    ", "\n  ]\n}\n"
		return flush()
	})
	if err != nil {
		return err
	}
	b.WriteString(end)
	return flush()
}
