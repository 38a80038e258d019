package anthropic

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// imageTypes are the types of images that the provider accepts as data.
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// encodeMedia renders an image or a document, or returns why the provider does not accept it.
func (r *renderer) encodeMedia(p *compactordv1.Part) (o rawjson.Object, why string) {
	m := dialect.WithoutDataURL(p.GetMedia())
	if why := refusesMedia(m); why != "" {
		return nil, why
	}
	source := canonicalSource(m)
	restoreSource(source, p.GetAttachments(), true)
	o = canonicalMedia(m)
	o["source"] = r.by.Object(source)
	return restored(o, p), ""
}

// refusesMedia returns why the provider does not accept an image or a document. Empty where it does.
func refusesMedia(m *compactordv1.MediaPart) string {
	mime := m.GetMimeType()
	image, pdf := slices.Contains(imageTypes, mime), mime == mimePDF
	switch source := m.GetSource().(type) {
	case *compactordv1.MediaPart_Data:
		switch {
		case len(source.Data) == 0:
			return "the media is empty"
		case image && base64Size(source.Data) > maxImage:
			return "the image is larger than the provider takes"
		case image, pdf, mime == mimePlain && utf8.Valid(source.Data) && !isBlank(string(source.Data)):
			return ""
		}
	case *compactordv1.MediaPart_Uri:
		switch {
		case m.GetOwner() != compactordv1.Dialect_DIALECT_UNSPECIFIED && m.GetOwner() != kind:
			return "only another provider can find the media"
		case !strings.HasPrefix(source.Uri, "https://"):
			return "the provider takes media from https addresses only"
		case image, pdf, mime == mimeAnyImage:
			return ""
		}
	case *compactordv1.MediaPart_FileId:
		switch {
		case m.GetOwner() != kind || source.FileId == "":
			return "the provider cannot find the file"
		case image, pdf, mime == mimeAnyImage, mime == mimePlain, mime == dialect.UnknownMime:
			return ""
		}
	}
	return "the provider takes no media of this type"
}

func base64Size(data []byte) int { return (len(data) + 2) / 3 * 4 }

// renderMedia renders an image or document. Where the provider does not accept it, a line of text describes it.
func (r *renderer) renderMedia(p *compactordv1.Part, i, j int, accepted bool) renderedBlock {
	why := "the assistant's messages hold no images and documents"
	if accepted {
		var o rawjson.Object
		if o, why = r.encodeMedia(p); o != nil {
			typ, _ := o.Text("type")
			return renderedBlock{raw: r.by.Object(o), typ: typ, message: i, part: j}
		}
	}
	r.drop(i, j, why)
	return r.madeText(wording.MediaLine(p.GetMedia()), i, j)
}
