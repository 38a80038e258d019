package openairesponses

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// plainBase64 is the value for a file whose content was not written as a data URL.
	plainBase64 = "base64"
)

// audioFormats are the formats of recordings that input_audio accepts.
var audioFormats = map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}

// parseMedia parses an image, a file or a recording. Where its content is missing or has an unknown form, it stays an
// opaque piece.
func parseMedia(raw json.RawMessage, o rawjson.Object, typ string) (piece, error) {
	p := piece{media: &compactordv1.MediaPart{}}
	var err error
	switch typ {
	case typeInputImage:
		err = parseImage(&p, o)
	case typeInputFile:
		err = parseFile(&p, o)
	default:
		err = parseAudio(&p, o)
	}
	if err != nil {
		return piece{}, err
	}
	if p.media.GetSource() == nil {
		return opaquePiece(raw, typ)
	}
	if typ != mediaType(p.media) {
		p.attachments = append(p.attachments, note(noteKind, typ))
	}
	residue, err := dialect.Residue(kind, o, canonicalMedia(p.media, typ, p.attachments))
	p.attachments = append(p.attachments, residue...)
	return p, err
}

func parseImage(p *piece, o rawjson.Object) error {
	if o.Has("image_url") {
		address, err := o.DemandText("image_url")
		if err != nil {
			return err
		}
		return rawjson.In("image_url", dialect.FillFromURL(p.media, address, mimeAnyImage))
	}
	return parseFileID(p, o, mimeAnyImage)
}

func parseFile(p *piece, o rawjson.Object) error {
	name, err := o.BoundedText("filename", dialect.MaxFileName)
	if err != nil {
		return err
	}
	p.media.Name = name
	switch {
	case o.Has("file_data"):
		return parseFileData(p, o)
	case o.Has("file_url"):
		address, err := o.DemandText("file_url")
		if err != nil {
			return err
		}
		return rawjson.In("file_url", dialect.FillFromURL(p.media, address, dialect.UnknownMime))
	default:
		return parseFileID(p, o, dialect.UnknownMime)
	}
}

func parseFileData(p *piece, o rawjson.Object) error {
	encoded, err := o.DemandText("file_data")
	if err != nil {
		return err
	}
	if dialect.IsDataURL(encoded) {
		return rawjson.In("file_data", dialect.FillFromURL(p.media, encoded, dialect.UnknownMime))
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return rawjson.In("file_data", err)
	}
	p.media.MimeType, p.media.Source = dialect.UnknownMime, &compactordv1.MediaPart_Data{Data: data}
	p.attachments = append(p.attachments, note(noteData, plainBase64))
	return nil
}

func parseFileID(p *piece, o rawjson.Object, mime string) error {
	if !o.Has("file_id") {
		return nil
	}
	id, err := o.BoundedText("file_id", dialect.MaxID)
	if err != nil {
		return err
	}
	p.media.MimeType, p.media.Owner, p.media.Source = mime, kind, &compactordv1.MediaPart_FileId{FileId: id}
	return nil
}

func parseAudio(p *piece, o rawjson.Object) error {
	sound, err := o.Sub("input_audio")
	if err != nil || sound == nil {
		return err
	}
	format, err := sound.Text("format")
	if err != nil {
		return rawjson.In("input_audio", err)
	}
	encoded, err := sound.Text("data")
	if err != nil {
		return rawjson.In("input_audio", err)
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return rawjson.In("input_audio", rawjson.In("data", err))
	}
	if mime, known := audioFormats[format]; known {
		p.media.MimeType, p.media.Source = mime, &compactordv1.MediaPart_Data{Data: data}
	}
	return nil
}

// mediaType returns the type of piece that a medium is usually rendered as.
func mediaType(m *compactordv1.MediaPart) string {
	if strings.HasPrefix(m.GetMimeType(), "image/") {
		return typeInputImage
	}
	return typeInputFile
}

// writtenType returns the original type of a medium's piece, or its mediaType where no note says it.
func writtenType(p piece) string {
	switch typ := noted(p.attachments, noteKind); typ {
	case typeInputImage, typeInputFile, typeInputAudio:
		return typ
	default:
		return mediaType(p.media)
	}
}
