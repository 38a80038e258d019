package transcript

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errLangChainKind  = errors.New("unknown type of message; known are human, ai, system, developer and tool")
	errLangChainBlock = errors.New("unknown kind of content, or one that this type of message may not hold")
)

// recognizeLangChain takes messages as LangChain serializes its objects, as message dicts, or as dumps of their fields.
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

// openLangChain reads messages from a list, from a field of an object, or one a line.
func openLangChain(in *lines, b beginning) (source, error) {
	names := callNames{}
	read := func(raw json.RawMessage) ([]entry, error) {
		m, err := langChainMessage(raw, in.remarks)
		if err == nil {
			names.see(m)
		}
		return one(m, err)
	}
	switch {
	case b.array:
		return &elementSource{feed: newElements(in, "", nil), read: read, remarks: in.remarks}, nil
	case !b.Has("messages"):
		return &elementSource{feed: &lineFeed{in: in}, read: read, remarks: in.remarks}, nil
	default:
		return &elementSource{feed: newElements(in, "messages", func(string, json.RawMessage) error {
			in.remarks.add(bodyField)
			return nil
		}), read: read, remarks: in.remarks}, nil
	}
}

// lineFeed feeds the objects of JSON Lines.
type lineFeed struct{ in *lines }

func (f *lineFeed) next() (json.RawMessage, error) {
	_, line, err := f.in.object()
	return line, err
}

func (f *lineFeed) on(err error) error { return onLine(f.in.line, err) }

// langChainMessage parses one message, whose fields may be wrapped.
func langChainMessage(raw json.RawMessage, notes *remarks) (*compactordv1.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	for _, wrapper := range []string{"kwargs", "data"} {
		if !o.Has(wrapper) {
			continue
		}
		fields, err := o.Sub(wrapper)
		if err != nil {
			return nil, err
		}
		if !fields.Has("type") {
			fields["type"] = langChainType(o)
		}
		m, err := langChainFields(fields, notes)
		return m, rawjson.In(wrapper, err)
	}
	return langChainFields(o, notes)
}

// langChainType is the type of a message that is told outside of its fields: by the type, or by the class, which is the
// last name of `id`.
func langChainType(o rawjson.Object) json.RawMessage {
	path, err := o.Elements("id")
	if err != nil || len(path) == 0 {
		return o["type"]
	}
	classes := map[string]string{
		"HumanMessage": "human", "HumanMessageChunk": "human", "AIMessage": "ai", "AIMessageChunk": "ai",
		"SystemMessage": "system", "SystemMessageChunk": "system", "ToolMessage": "tool", "ToolMessageChunk": "tool",
	}
	var class string
	if json.Unmarshal(path[len(path)-1], &class) != nil {
		return nil
	}
	return rawjson.Quote(classes[class])
}

func langChainFields(o rawjson.Object, notes *remarks) (*compactordv1.Message, error) {
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	m := &compactordv1.Message{Origin: compactordv1.Origin_ORIGIN_IMPORT}
	switch kind {
	case "human", "HumanMessageChunk":
		m.Role = compactordv1.Role_ROLE_USER
		m.Parts, err = langChainContent(o, notes, "text", "image_url")
	case "system", "SystemMessageChunk":
		m.Role = compactordv1.Role_ROLE_SYSTEM
		m.Parts, err = langChainContent(o, notes, "text")
	case "developer":
		m.Role = compactordv1.Role_ROLE_DEVELOPER
		m.Parts, err = langChainContent(o, notes, "text")
	case "ai", "AIMessageChunk":
		m.Role = compactordv1.Role_ROLE_ASSISTANT
		err = langChainAssistant(m, o, notes)
	case "tool", "ToolMessageChunk":
		m.Role = compactordv1.Role_ROLE_TOOL
		err = langChainResult(m, o, notes)
	default:
		err = rawjson.In("type", errLangChainKind)
	}
	if err != nil || kind == "tool" {
		return m, err
	}
	m.Name, err = o.BoundedText("name", maxName)
	return m, err
}

func langChainResult(m *compactordv1.Message, o rawjson.Object, notes *remarks) error {
	parts, err := langChainContent(o, notes, "text", "image_url")
	if err != nil {
		return err
	}
	m.Parts, err = toolResult(o, parts, o.IsText("status", "error"))
	return err
}
