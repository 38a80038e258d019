package transcript

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const dataScheme = "data:"

var (
	errDataURL = errors.New("is a data URL that cannot be read")
	errBase64  = errors.New("is not valid base64")
)

// fillFromURL sets mime type and source: the content of a data URL itself, the address of any other. Only a data URL
// tells the mime type; for the others it is what the place suggests.
func fillFromURL(m *compactordv1.MediaPart, address, suggested string) error {
	m.MimeType = suggested
	if len(address) < len(dataScheme) || !strings.EqualFold(address[:len(dataScheme)], dataScheme) {
		if len(address) > maxURI {
			return rawjson.TooLarge(len(address), maxURI)
		}
		m.Source = &compactordv1.MediaPart_Uri{Uri: address}
		return nil
	}
	head, body, found := strings.Cut(address[len(dataScheme):], ",")
	if !found {
		return errDataURL
	}
	mime, parameters, _ := strings.Cut(head, ";")
	if mime != "" {
		m.MimeType = mime
	}
	if len(m.GetMimeType()) > maxName {
		return errDataURL
	}
	data, err := dataOf(body, parameters)
	if err != nil {
		return err
	}
	m.Source = &compactordv1.MediaPart_Data{Data: data}
	return nil
}

func dataOf(body, parameters string) ([]byte, error) {
	if parameters == "base64" || strings.HasSuffix(parameters, ";base64") {
		return decodeBase64(body)
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		return nil, errDataURL
	}
	if len(plain) > maxText {
		return nil, rawjson.TooLarge(len(plain), maxText)
	}
	return []byte(plain), nil
}

// decodeBase64 takes both alphabets, with and without padding and line breaks: tools differ, the content is clear.
func decodeBase64(encoded string) ([]byte, error) {
	plain := strings.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		case ' ', '\t', '\r', '\n':
			return -1
		default:
			return r
		}
	}, encoded)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(plain, "="))
	switch {
	case err != nil:
		// Not passed on: the error of encoding/base64 tells a position, but also invites to print the input.
		return nil, errBase64
	case len(data) > maxText:
		return nil, rawjson.TooLarge(len(data), maxText)
	default:
		return data, nil
	}
}
