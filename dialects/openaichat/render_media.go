package openaichat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	// imageTypes are the types of images that OpenAI accepts. Tools write the first instead of the second.
	imageTypes = []string{"image/jpg", "image/jpeg", "image/png", "image/gif", "image/webp"}
	// audioFormats are the formats of recordings that OpenAI accepts.
	audioFormats = []string{"wav", "mp3"}
)

// mediaType returns the type of content part for a medium. Empty where the dialect has none.
func mediaType(media *compactordv1.MediaPart) string {
	mime := strings.ToLower(media.GetMimeType())
	switch media.GetSource().(type) {
	case *compactordv1.MediaPart_FileId:
		if media.GetOwner() == kind {
			return typeFile
		}
	case *compactordv1.MediaPart_Uri:
		if strings.HasPrefix(mime, "image/") {
			return typeImage
		}
	case *compactordv1.MediaPart_Data:
		switch {
		case strings.HasPrefix(mime, "image/"):
			return typeImage
		case strings.HasPrefix(mime, "audio/"):
			return typeAudio
		default:
			return typeFile
		}
	}
	return ""
}

// isAcceptedMedia reports whether OpenAI accepts a medium from the user.
func isAcceptedMedia(media *compactordv1.MediaPart) bool {
	mime := strings.ToLower(media.GetMimeType())
	switch mediaType(media) {
	case typeImage:
		if data, ok := media.GetSource().(*compactordv1.MediaPart_Data); ok {
			return len(data.Data) > 0 && slices.Contains(imageTypes, mime)
		}
		return isWebAddress(media.GetUri())
	case typeAudio:
		return len(media.GetData()) > 0 && slices.Contains(audioFormats, audioFormat(mime))
	case typeFile:
		return media.GetFileId() != "" || len(media.GetData()) > 0 && mime == mimePDF
	default:
		return false
	}
}

func isWebAddress(url string) bool {
	lower := strings.ToLower(url[:min(len(url), len("https://"))])
	return strings.HasPrefix(lower, "http://") || lower == "https://"
}

// renderMedia returns nil for a medium that the list cannot hold.
func (r *renderer) renderMedia(p *compactordv1.Part) rawjson.Object {
	media := p.GetMedia()
	if owner := media.GetOwner(); owner != kind && owner != compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return nil
	}
	if r.request && (r.m.GetRole() != compactordv1.Role_ROLE_USER || !isAcceptedMedia(media)) {
		return nil
	}
	partType := mediaType(media)
	_, isData := media.GetSource().(*compactordv1.MediaPart_Data)
	if noted, found := dialect.Noted(p.GetAttachments(), kind, noteType); found && isData && !r.request {
		partType = noted
	}
	switch partType {
	case typeImage:
		return r.renderImage(p)
	case typeAudio:
		return r.renderInputAudio(p)
	case typeFile:
		return r.renderFile(p)
	default:
		return nil
	}
}

// encodeMedia returns a content part whose inner object has the name of the part's type.
func (r *renderer) encodeMedia(p *compactordv1.Part, partType string, inner rawjson.Object, guarded dialect.Guards) rawjson.Object {
	if r.request {
		for _, key := range []string{"url", "data", "format", "file_data", "file_id", "filename"} {
			guarded[key] = dialect.Never
		}
	}
	restoreWithin(inner, p.GetAttachments(), partType, guarded)
	o := rawjson.Object{"type": rawjson.Quote(partType), partType: r.by.Object(inner)}
	r.restorePart(o, p, dialect.Guards{"type": dialect.Never, partType: dialect.Never})
	return o
}

func (r *renderer) renderImage(p *compactordv1.Part) rawjson.Object {
	media := p.GetMedia()
	if !r.request && isNoted(p.GetAttachments(), noteImage, "string") {
		o := rawjson.Object{"type": rawjson.Quote(typeImage), typeImage: rawjson.Quote(addressOf(media))}
		r.restorePart(o, p, dialect.Guards{"type": dialect.Never, typeImage: matchesAddress(media)})
		return o
	}
	return r.encodeMedia(p, typeImage, rawjson.Object{"url": rawjson.Quote(r.addressOf(media))}, dialect.Guards{"url": matchesAddress(media)})
}

// addressOf returns the address of a medium. In a request the type has the provider's spelling.
func (r *renderer) addressOf(media *compactordv1.MediaPart) string {
	if data, ok := media.GetSource().(*compactordv1.MediaPart_Data); ok && r.request {
		return dialect.DataURL(strings.ToLower(media.GetMimeType()), data.Data)
	}
	return addressOf(media)
}

func (r *renderer) renderInputAudio(p *compactordv1.Part) rawjson.Object {
	media, mime := p.GetMedia(), p.GetMedia().GetMimeType()
	if r.request {
		mime = strings.ToLower(mime)
	}
	inner := rawjson.Object{
		"data":   rawjson.Quote(dialect.EncodeBase64(media.GetData())),
		"format": rawjson.Quote(audioFormat(mime)),
	}
	return r.encodeMedia(p, typeAudio, inner, dialect.Guards{
		"data": dialect.MatchesData(media.GetData()),
		"format": func(raw json.RawMessage) bool {
			var format string
			return json.Unmarshal(raw, &format) == nil && audioMime(format) == mime
		},
	})
}

func (r *renderer) renderFile(p *compactordv1.Part) rawjson.Object {
	media := p.GetMedia()
	inner := rawjson.Object{}
	guarded := dialect.Guards{"filename": matchesText(media.GetName())}
	if name := media.GetName(); name != "" {
		inner["filename"] = rawjson.Quote(name)
	}
	switch source := media.GetSource().(type) {
	case *compactordv1.MediaPart_Data:
		inner["file_data"] = rawjson.Quote(r.addressOf(media))
		if !r.request && isNoted(p.GetAttachments(), noteFileData, "base64") {
			inner["file_data"] = rawjson.Quote(dialect.EncodeBase64(source.Data))
		}
		guarded["file_data"] = matchesFile(media)
		if r.request && media.GetName() == "" {
			inner["filename"] = rawjson.Quote("file.pdf")
		}
	case *compactordv1.MediaPart_FileId:
		if source.FileId != "" {
			inner["file_id"] = rawjson.Quote(source.FileId)
		}
		guarded["file_id"], guarded["file_data"] = matchesText(source.FileId), isEmptyValue
	}
	return r.encodeMedia(p, typeFile, inner, guarded)
}
