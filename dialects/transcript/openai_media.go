package transcript

import (
	"errors"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errNoFile = errors.New("holds neither file_data nor file_id")

// openAIMedia parses an image_url, input_audio or file part.
func openAIMedia(o rawjson.Object, kind string) (*compactordv1.Part, error) {
	content, err := o.Sub(kind)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, rawjson.In(kind, rawjson.ErrMissing)
	}
	part := mediaPart(&compactordv1.MediaPart{})
	switch kind {
	case "image_url":
		err = openAIImage(part, content)
	case "input_audio":
		err = openAIAudio(part, content)
	default:
		err = openAIFile(part, content)
	}
	return part, rawjson.In(kind, err)
}

func openAIImage(part *compactordv1.Part, o rawjson.Object) error {
	url, err := o.DemandText("url")
	if err != nil {
		return err
	}
	if err := dialect.FillFromURL(part.GetMedia(), url, "image/*"); err != nil {
		return rawjson.In("url", err)
	}
	part.Attachments, err = openAIAttachments(o, "url")
	return err
}

func openAIAudio(part *compactordv1.Part, o rawjson.Object) error {
	format, err := o.DemandText("format")
	if err != nil {
		return err
	}
	encoded, err := o.DemandText("data")
	if err != nil {
		return err
	}
	media := part.GetMedia()
	media.MimeType = "audio/" + format
	if format == "mp3" {
		media.MimeType = "audio/mpeg"
	}
	if len(media.GetMimeType()) > maxName {
		return rawjson.In("format", rawjson.TooLarge(len(format), maxName))
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return rawjson.In("data", err)
	}
	media.Source = &compactordv1.MediaPart_Data{Data: data}
	part.Attachments, err = openAIAttachments(o, "format", "data")
	return err
}

func openAIFile(part *compactordv1.Part, o rawjson.Object) error {
	media := part.GetMedia()
	var err error
	if media.Name, err = o.BoundedText("filename", maxFileName); err != nil {
		return err
	}
	media.MimeType = dialect.UnknownMime
	if strings.HasSuffix(strings.ToLower(media.GetName()), ".pdf") {
		media.MimeType = "application/pdf"
	}
	switch {
	case o.Has("file_data"):
		encoded, err := o.DemandText("file_data")
		if err != nil {
			return err
		}
		if dialect.IsDataURL(encoded) {
			err = dialect.FillFromURL(media, encoded, media.GetMimeType())
		} else {
			var data []byte
			data, err = dialect.DecodeBase64(encoded)
			media.Source = &compactordv1.MediaPart_Data{Data: data}
		}
		if err != nil {
			return rawjson.In("file_data", err)
		}
	case o.Has("file_id"):
		id, err := o.BoundedText("file_id", maxID)
		if err != nil {
			return err
		}
		media.Source = &compactordv1.MediaPart_FileId{FileId: id}
	default:
		return errNoFile
	}
	known := []string{"filename", "file_data"}
	if media.GetFileId() != "" {
		known = append(known, "file_id")
	}
	part.Attachments, err = openAIAttachments(o, known...)
	return err
}
