package dialect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// UnknownMime is the type of a file whose type the JSON does not say.
const UnknownMime = "application/octet-stream"

const dataScheme = "data:"

var (
	errDataURL = errors.New("is a data URL that cannot be read")
	errBase64  = errors.New("is not valid base64")
)

// FillFromURL sets type and source of a medium: the content of a data URL, or any other address. Only a data URL says
// its type. Other addresses get the suggested type.
func FillFromURL(m *compactordv1.MediaPart, address, suggested string) error {
	m.MimeType = suggested
	if !IsDataURL(address) {
		if len(address) > MaxURI {
			return rawjson.TooLarge(len(address), MaxURI)
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
	if len(m.GetMimeType()) > MaxName {
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
		return DecodeBase64(body)
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		return nil, errDataURL
	}
	if len(plain) > MaxText {
		return nil, rawjson.TooLarge(len(plain), MaxText)
	}
	return []byte(plain), nil
}

// DecodeBase64 accepts both alphabets, with or without padding and line breaks. Tools differ, but the content is clear.
func DecodeBase64(encoded string) ([]byte, error) {
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
		// The error of encoding/base64 names a position, which tempts to print the input. It is not passed on.
		return nil, errBase64
	case len(data) > MaxText:
		return nil, rawjson.TooLarge(len(data), MaxText)
	default:
		return data, nil
	}
}

// IsDataURL reports whether an address holds the content itself.
func IsDataURL(address string) bool {
	return len(address) >= len(dataScheme) && strings.EqualFold(address[:len(dataScheme)], dataScheme)
}

// WithoutDataURL returns a medium that holds its content as data where its address is a data URL. Any other medium is
// returned unchanged.
func WithoutDataURL(m *compactordv1.MediaPart) *compactordv1.MediaPart {
	if !IsDataURL(m.GetUri()) {
		return m
	}
	held := &compactordv1.MediaPart{Name: m.GetName()}
	if FillFromURL(held, m.GetUri(), m.GetMimeType()) != nil {
		return m
	}
	return held
}

// DataURL returns content as an address.
func DataURL(mime string, data []byte) string {
	return dataScheme + mime + ";base64," + EncodeBase64(data)
}

// EncodeBase64 encodes content as all providers accept it: with the standard alphabet, and padded.
func EncodeBase64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// MatchesData guards a base64 field that is written in another way than EncodeBase64 writes it.
func MatchesData(data []byte) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var encoded string
		if json.Unmarshal(raw, &encoded) != nil {
			return false
		}
		decoded, err := DecodeBase64(encoded)
		return err == nil && bytes.Equal(decoded, data)
	}
}
