package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// recognize looks at the first line that is not blank and chooses the source.
func (r *Reader) recognize(in *lines) error {
	first, err := in.first()
	switch {
	case errors.Is(err, io.EOF):
		return ErrEmpty
	case err != nil:
		return err
	case first == '[':
		// Not read as a line: the whole document may be one.
		r.format = OpenAIDocument
		r.source = newArray(in, r.remarks)
		return nil
	case first == '{':
		return r.recognizeObject(in)
	default:
		return ErrUnknownFormat
	}
}

func (r *Reader) recognizeObject(in *lines) error {
	first, err := in.next()
	if err != nil {
		return err
	}
	o, err := rawjson.ParseObject(first)
	if err != nil {
		if opensDocument(first) {
			return r.recognizeBody(in, first)
		}
		return onLine(in.line, err)
	}
	switch {
	case o.IsText("type", "session") && rawjson.KindOf(o["id"]) == rawjson.String:
		r.format = PiSession
		r.source, err = newPi(in, o, r.remarks)
		return onLine(in.line, err)
	case rawjson.KindOf(o["role"]) == rawjson.String:
		r.format = OpenAILines
		r.source = &openAILines{in: in, held: first, remarks: r.remarks}
		return nil
	case rawjson.KindOf(o["messages"]) == rawjson.Array:
		return r.recognizeBody(in, first)
	default:
		return ErrUnknownFormat
	}
}

// recognizeBody reads a request body up to its messages; its first line has been taken from the input already.
func (r *Reader) recognizeBody(in *lines, first []byte) error {
	start := bytes.NewReader(append(bytes.Clone(first), '\n'))
	in.in = bufio.NewReader(io.MultiReader(start, in.in))
	in.line--
	body, err := newBody(in, r.remarks)
	if err != nil {
		return err
	}
	r.format = OpenAIDocument
	r.source = body
	return nil
}

// opensDocument tells the first line of a document that was laid out over several lines from a broken line of JSON Lines.
func opensDocument(line []byte) bool {
	return len(line) == 1 ||
		bytes.HasSuffix(line, []byte(",")) ||
		bytes.HasSuffix(line, []byte("[")) ||
		bytes.Contains(line, []byte(`"messages"`))
}
