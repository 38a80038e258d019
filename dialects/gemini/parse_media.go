package gemini

import (
	"net/url"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseMedia reads inlineData or fileData.
func parseMedia(
	o rawjson.Object, field string, snake []string,
) (*compactordv1.MediaPart, []*compactordv1.Attachment, error) {
	inner, err := rawjson.SplitObject(o[field])
	if err != nil {
		return nil, nil, rawjson.In(field, err)
	}
	inner, within := toCamelCase(inner, "mime_type", "file_uri", "display_name")
	media, err := parseBlob(inner, field)
	if err != nil {
		return nil, nil, rawjson.In(field, err)
	}
	d := canonicalMedia(media)
	residue, err := d.residue(o, inner, append(snake, within...))
	if err != nil {
		return nil, nil, err
	}
	return media, residue, dialect.BoundAttachments(residue)
}

func parseBlob(inner rawjson.Object, field string) (*compactordv1.MediaPart, error) {
	mime, err := inner.BoundedText("mimeType", dialect.MaxName)
	if err != nil {
		return nil, err
	}
	if mime == "" {
		mime = dialect.UnknownMime
	}
	name, err := inner.BoundedText("displayName", dialect.MaxFileName)
	if err != nil {
		return nil, err
	}
	media := &compactordv1.MediaPart{MimeType: mime, Name: name}
	if field == fieldInline {
		encoded, err := inner.DemandText("data")
		if err != nil {
			return nil, err
		}
		data, err := dialect.DecodeBase64(encoded)
		media.Source = &compactordv1.MediaPart_Data{Data: data}
		return media, rawjson.In("data", err)
	}
	uri, err := inner.DemandText("fileUri")
	if err != nil {
		return nil, err
	}
	if len(uri) > dialect.MaxURI {
		return nil, rawjson.In("fileUri", rawjson.TooLarge(len(uri), dialect.MaxURI))
	}
	media.Source = &compactordv1.MediaPart_Uri{Uri: uri}
	media.Owner = ownerOf(uri)
	return media, nil
}

// ownerOf returns GEMINI where only Gemini can read an address: files that were uploaded to it or that are in its
// cloud, and web pages of videos, which it reads as the video.
func ownerOf(uri string) compactordv1.Dialect {
	u, err := url.Parse(uri)
	if err != nil {
		return compactordv1.Dialect_DIALECT_UNSPECIFIED
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	switch {
	case u.Scheme == "gs", host == "generativelanguage.googleapis.com", host == "youtube.com", host == "youtu.be":
		return kind
	default:
		return compactordv1.Dialect_DIALECT_UNSPECIFIED
	}
}
