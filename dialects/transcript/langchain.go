package transcript

import (
	"encoding/json"
	"errors"
)

var (
	errLangChainKind  = errors.New("unknown type of message; known are human, ai, system, developer and tool")
	errLangChainBlock = errors.New("unknown kind of content, or one that this type of message may not hold")
)

// recognizeLangChain recognizes messages as LangChain serializes its objects, as message dicts, or as dumps of their
// fields.
func recognizeLangChain(b beginning) verdict {
	switch {
	case b.Has("lc") && b.Has("kwargs"):
		return yes
	case !b.array && b.Has("messages"):
		return recognizeLangChain(beginning{Object: firstObject(b.Object, "messages"), array: true})
	case !b.IsText("type", "human") && !b.IsText("type", "ai") && !b.IsText("type", "system") && !b.IsText("type", "tool"):
		return no
	case b.Has("data") || b.Has("content") && b.Has("additional_kwargs"):
		return yes
	default:
		return no
	}
}

// openLangChain reads messages from a list, from a field of an object, or one per line.
func openLangChain(in *lines, b beginning) (source, error) {
	names := callNames{}
	read := func(raw json.RawMessage) ([]entry, error) {
		m, err := langChainMessage(raw, in.notes)
		if err == nil {
			names.see(m)
		}
		return one(m, err)
	}
	switch {
	case b.array:
		return &elementSource{feed: newElements(in, "", nil), read: read, notes: in.notes}, nil
	case !b.Has("messages"):
		return &elementSource{feed: &lineFeed{in: in}, read: read, notes: in.notes}, nil
	default:
		return &elementSource{feed: newElements(in, "messages", func(string, json.RawMessage) error {
			in.notes.add(bodyField)
			return nil
		}), read: read, notes: in.notes}, nil
	}
}

// lineFeed feeds the objects of JSON Lines.
type lineFeed struct{ in *lines }

func (f *lineFeed) next() (json.RawMessage, error) {
	_, line, err := f.in.object()
	return line, err
}

func (f *lineFeed) on(err error) error { return onLine(f.in.line, err) }
