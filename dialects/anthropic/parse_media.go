package anthropic

import (
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseMedia reads an image or document block, and its other fields as attachments. It returns nil where the source has
// another type, such as a document of blocks.
func parseMedia(o rawjson.Object, typ string) (*compactordv1.MediaPart, []*compactordv1.Attachment, error) {
	source, err := rawjson.SplitObject(o["source"])
	if err != nil {
		return nil, nil, rawjson.In("source", err)
	}
	m := &compactordv1.MediaPart{}
	known, err := parseSource(m, source, typ)
	if !known || err != nil {
		return nil, nil, rawjson.In("source", err)
	}
	if title, err := o.Text("title"); typ == typeDocument && err == nil && len(title) <= dialect.MaxFileName {
		m.Name = title
	}
	own, err := dialect.Residue(kind, o, canonicalMedia(m), "source")
	if err != nil {
		return nil, nil, err
	}
	within, err := dialect.Residue(kind, source, canonicalSource(m))
	if err != nil {
		return nil, nil, rawjson.In("source", err)
	}
	for _, a := range within {
		a.Key = dialect.NotePrefix + noteSource + a.GetKey()
		if len(a.GetKey()) > dialect.MaxName {
			return nil, nil, rawjson.In("source", errLongName)
		}
	}
	own = append(own, within...)
	return m, own, dialect.BoundAttachments(own)
}

var errLongName = fmt.Errorf("%w: a field that is not known has an overlong name", dialect.ErrLimit)

// parseSource sets type and content, and reports whether the type of source is known.
func parseSource(m *compactordv1.MediaPart, source rawjson.Object, typ string) (known bool, err error) {
	from, err := source.DemandText("type")
	if err != nil {
		return false, err
	}
	switch {
	case from == sourceBase64:
		return true, parseBase64(m, source)
	case from == sourceURL:
		m.MimeType = mimePDF
		if typ == typeImage {
			m.MimeType = mimeAnyImage
		}
		address, err := source.DemandBoundedText("url", dialect.MaxURI)
		m.Source = &compactordv1.MediaPart_Uri{Uri: address}
		return true, err
	case from == sourceFile:
		m.MimeType, m.Owner = dialect.UnknownMime, kind
		if typ == typeImage {
			m.MimeType = mimeAnyImage
		}
		id, err := source.DemandBoundedText("file_id", dialect.MaxID)
		m.Source = &compactordv1.MediaPart_FileId{FileId: id}
		return true, err
	case from == sourceText && typ == typeDocument:
		if m.MimeType, err = source.BoundedText("media_type", dialect.MaxName); err != nil {
			return true, err
		}
		if m.GetMimeType() == "" {
			m.MimeType = mimePlain
		}
		text, err := source.DemandBoundedText("data", dialect.MaxText)
		m.Source = &compactordv1.MediaPart_Data{Data: []byte(text)}
		return true, err
	default:
		return false, nil
	}
}

func parseBase64(m *compactordv1.MediaPart, source rawjson.Object) (err error) {
	if m.MimeType, err = source.DemandBoundedText("media_type", dialect.MaxName); err != nil {
		return err
	}
	if m.GetMimeType() == "" {
		return rawjson.In("media_type", rawjson.ErrEmpty)
	}
	encoded, err := source.DemandText("data")
	if err != nil {
		return err
	}
	data, err := dialect.DecodeBase64(encoded)
	m.Source = &compactordv1.MediaPart_Data{Data: data}
	return rawjson.In("data", err)
}
