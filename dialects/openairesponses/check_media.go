package openairesponses

import (
	"strings"
	"unicode/utf8"
)

func checkMediaSource(d *decoded, report report) {
	d.eachPart(func(item *decodedItem, i int, p decodedPart) {
		switch p.typ {
		case "input_image":
			address := p.fields.TextOrEmpty("image_url")
			if p.fields.TextOrEmpty("file_id") == "" && !isAddress(address, "data:image/") {
				report(item.at, i, "image_url must be an address or a data URL, or file_id set")
			}
		case "input_file":
			if p.fields.TextOrEmpty("file_id") == "" && p.fields.TextOrEmpty("file_data") == "" &&
				!isAddress(p.fields.TextOrEmpty("file_url"), "https://") {
				report(item.at, i, "one of file_id, file_data and file_url must be set")
			}
		}
	})
}

func isAddress(address, other string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") ||
		strings.HasPrefix(address, other)
}

func checkMediaSize(d *decoded, report report) {
	d.eachPart(func(item *decodedItem, i int, p decodedPart) {
		if utf8.RuneCountInString(p.fields.TextOrEmpty("image_url")) > 20_971_520 {
			report(item.at, i, "image_url is too long")
		}
		if utf8.RuneCountInString(p.fields.TextOrEmpty("file_data")) > 33_554_432 {
			report(item.at, i, "file_data is too long")
		}
	})
}
