package openairesponses

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

const (
	// maxImageURL and maxFileData are the most characters that the provider accepts of an image and of a file.
	maxImageURL = 20_971_520
	maxFileData = 33_554_432
	// addressBytes is the most bytes that a data URL adds to its content.
	addressBytes = 512
)

var images = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/jpg": true, "image/webp": true, "image/gif": true,
}

// documents are the types of files that the provider reads, except text.
var documents = map[string]bool{
	mimePDF:                                   true,
	"application/json":                        true,
	"application/xml":                         true,
	"application/rtf":                         true,
	"application/msword":                      true,
	"application/vnd.ms-excel":                true,
	"application/vnd.ms-powerpoint":           true,
	"application/vnd.oasis.opendocument.text": true,
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": true,
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         true,
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   true,
}

// isAcceptedMedia reports whether the provider accepts a medium as a piece of content.
func isAcceptedMedia(p piece, s side) bool {
	m, typ := p.media, writtenType(p)
	if s != userSide && s != outputSide || m.GetOwner() != 0 && m.GetOwner() != kind {
		return false
	}
	switch source := m.GetSource().(type) {
	case *compactordv1.MediaPart_FileId:
		return source.FileId != "" && m.GetOwner() == kind && typ != typeInputAudio
	case *compactordv1.MediaPart_Uri:
		return isWeb(source.Uri) && !isSoundOrFilm(m.GetMimeType()) && typ != typeInputAudio
	case *compactordv1.MediaPart_Data:
		return len(source.Data) > 0 && fitsAsData(p, typ, s)
	default:
		return false
	}
}

func fitsAsData(p piece, typ string, s side) bool {
	mime := bareMime(p.media.GetMimeType())
	size := len(p.media.GetData()) / 3 * 4
	switch typ {
	case typeInputImage:
		return images[mime] && size < maxImageURL-addressBytes
	case typeInputAudio:
		return s == userSide && (mime == audioFormats["wav"] || mime == audioFormats["mp3"])
	default:
		asWritten := noted(p.attachments, noteData) == plainBase64
		return size < maxFileData-addressBytes && (asWritten || documents[mime] || strings.HasPrefix(mime, "text/"))
	}
}

// requestMedia returns a medium for a request, with its MIME type as providers write it.
func requestMedia(p piece, s side) (*compactordv1.MediaPart, bool) {
	bare := bareMime(p.media.GetMimeType())
	if bare != p.media.GetMimeType() && bare != "" {
		p.media = proto.CloneOf(p.media)
		p.media.MimeType = bare
	}
	return p.media, isAcceptedMedia(p, s)
}

// bareMime returns a MIME type in lower case and without parameters.
func bareMime(mime string) string {
	bare, _, _ := strings.Cut(mime, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}

func isSoundOrFilm(mime string) bool {
	return strings.HasPrefix(mime, "audio/") || strings.HasPrefix(mime, "video/")
}

func isWeb(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// fileName returns a name for a file without one, since the provider demands a name.
func fileName(m *compactordv1.MediaPart) string {
	if m.GetMimeType() == mimePDF {
		return "file.pdf"
	}
	return "file.txt"
}

// withoutMediaSources removes the attachments that hold the content of a medium, since a request has it only once.
func withoutMediaSources(attachments []*compactordv1.Attachment) []*compactordv1.Attachment {
	var rest []*compactordv1.Attachment
	for _, a := range attachments {
		switch a.GetKey() {
		case "image_url", "file_id", "file_url", "file_data", "filename":
		default:
			rest = append(rest, a)
		}
	}
	return rest
}

// isAcceptedOpaque reports whether the provider accepts an opaque piece in a content: only an input piece of an unknown
// type.
func isAcceptedOpaque(opaque *compactordv1.OpaquePart, s side) bool {
	if s != userSide && s != outputSide {
		return false
	}
	o, err := objectOf(json.RawMessage(opaque.GetJson()))
	if err != nil {
		return false
	}
	typ, err := o.DemandText("type")
	if err != nil {
		return false
	}
	return strings.HasPrefix(typ, "input_") && typ != typeInputText && typ != typeInputImage && typ != typeInputFile
}

func (r *renderer) renderMedia(p piece, s side) piece {
	fetched := dialect.WithoutDataURL(p.media)
	p = piece{media: fetched, attachments: p.attachments, at: p.at}
	if accepted, ok := requestMedia(p, s); ok {
		p.media = accepted
		return p
	}
	r.drop(p.at, "The provider does not accept such a file here. A line of text replaces it.")
	return textPiece(wording.MediaLine(fetched))
}
