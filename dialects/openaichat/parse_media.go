package openaichat

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errNoFile = errors.New("holds neither file_data nor file_id")

// parseMedia parses an image_url, input_audio or file part.
func (f *fields) parseMedia(partType string) (*compactordv1.Part, error) {
	media := &compactordv1.MediaPart{}
	part := &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media}}
	if partType == typeImage && rawjson.KindOf(f.Object[partType]) == rawjson.String {
		err := f.parseImageAddress(media)
		f.noteType(media, partType)
		return part, err
	}
	raw := f.Object[partType]
	if !f.Has(partType) {
		return nil, rawjson.In(partType, rawjson.ErrMissing)
	}
	inner, err := readFields(raw)
	if err == nil {
		switch partType {
		case typeImage:
			err = inner.parseImage(media)
		case typeAudio:
			err = inner.parseInputAudio(media)
		default:
			err = inner.parseFile(media)
		}
	}
	if err != nil {
		return nil, rawjson.In(partType, err)
	}
	f.noteType(media, partType)
	return part, f.keepWithin(partType, inner)
}

// noteType notes the type of the part where the medium alone would suggest another.
func (f *fields) noteType(media *compactordv1.MediaPart, partType string) {
	if partType != mediaType(media) {
		f.note(noteType, partType)
	}
}

// parseImageAddress parses an address that is a string and not an object. Some tools write that.
func (f *fields) parseImageAddress(media *compactordv1.MediaPart) error {
	url, err := f.DemandText(typeImage)
	if err != nil {
		return err
	}
	if err := dialect.FillFromURL(media, url, mimeAnyImage); err != nil {
		return rawjson.In(typeImage, err)
	}
	f.note(noteImage, "string")
	if url == addressOf(media) && rawjson.Keeps(f.Object[typeImage]) {
		f.markNeutral(typeImage)
	}
	return nil
}

func (f *fields) parseImage(media *compactordv1.MediaPart) error {
	url, err := f.DemandText("url")
	if err != nil {
		return err
	}
	if err := dialect.FillFromURL(media, url, mimeAnyImage); err != nil {
		return rawjson.In("url", err)
	}
	if url == addressOf(media) && rawjson.Keeps(f.Object["url"]) {
		f.markNeutral("url")
	}
	return nil
}

// addressOf returns the address that a medium is usually written with.
func addressOf(media *compactordv1.MediaPart) string {
	if data, ok := media.GetSource().(*compactordv1.MediaPart_Data); ok {
		return dialect.DataURL(media.GetMimeType(), data.Data)
	}
	return media.GetUri()
}

// matchesAddress guards an address that is written in an unusual way.
func matchesAddress(media *compactordv1.MediaPart) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var url string
		read := &compactordv1.MediaPart{}
		return json.Unmarshal(raw, &url) == nil &&
			dialect.FillFromURL(read, url, mimeAnyImage) == nil && addressOf(read) == addressOf(media)
	}
}

func (f *fields) parseInputAudio(media *compactordv1.MediaPart) error {
	format, err := f.DemandText("format")
	if err != nil {
		return err
	}
	encoded, err := f.DemandText("data")
	if err != nil {
		return err
	}
	media.MimeType = audioMime(format)
	if len(media.GetMimeType()) > dialect.MaxName {
		return rawjson.In("format", rawjson.TooLarge(len(format), dialect.MaxName))
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return rawjson.In("data", err)
	}
	media.Source = &compactordv1.MediaPart_Data{Data: data}
	if format == audioFormat(media.GetMimeType()) && rawjson.Keeps(f.Object["format"]) {
		f.markNeutral("format")
	}
	if encoded == dialect.EncodeBase64(data) {
		f.markNeutral("data")
	}
	return nil
}

func audioMime(format string) string {
	if format == "mp3" {
		return "audio/mpeg"
	}
	return "audio/" + format
}

// audioFormat returns the name of a recording's format in this dialect.
func audioFormat(mime string) string {
	switch mime {
	case "audio/mpeg":
		return "mp3"
	case "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "wav"
	default:
		return strings.TrimPrefix(mime, "audio/")
	}
}

func (f *fields) parseFile(media *compactordv1.MediaPart) error {
	var err error
	if media.Name, err = f.text("filename", dialect.MaxFileName); err != nil {
		return err
	}
	media.MimeType = dialect.UnknownMime
	if strings.HasSuffix(strings.ToLower(media.GetName()), ".pdf") {
		media.MimeType = mimePDF
	}
	switch {
	case f.Has("file_data"):
		return rawjson.In("file_data", f.parseFileData(media))
	case f.Has("file_id"):
		id, err := f.text("file_id", dialect.MaxID)
		media.Source = &compactordv1.MediaPart_FileId{FileId: id}
		media.Owner = kind
		return err
	default:
		return errNoFile
	}
}

func (f *fields) parseFileData(media *compactordv1.MediaPart) error {
	var encoded string
	if raw := f.Object["file_data"]; rawjson.KindOf(raw) != rawjson.String || json.Unmarshal(raw, &encoded) != nil {
		return rawjson.WrongKind(raw, rawjson.String)
	}
	if dialect.IsDataURL(encoded) {
		if err := dialect.FillFromURL(media, encoded, media.GetMimeType()); err != nil {
			return err
		}
		if encoded == addressOf(media) && rawjson.Keeps(f.Object["file_data"]) {
			f.markNeutral("file_data")
		}
		return nil
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return err
	}
	media.Source = &compactordv1.MediaPart_Data{Data: data}
	f.note(noteFileData, "base64")
	if encoded == dialect.EncodeBase64(data) {
		f.markNeutral("file_data")
	}
	return nil
}

// matchesFile guards the content of a file that is written in an unusual way.
func matchesFile(media *compactordv1.MediaPart) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		read := &fields{Object: rawjson.Object{"file_data": raw}}
		again := &compactordv1.MediaPart{MimeType: media.GetMimeType()}
		return read.parseFileData(again) == nil && addressOf(again) == addressOf(media)
	}
}
