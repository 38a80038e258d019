package openairesponses

import (
	"strings"
	"unicode/utf8"
)

func checkMediaSource(d *decoded, report report) {
	d.eachPart(func(item *decodedItem, i int, p decodedPart) {
		switch p.typ {
		case "input_image":
			address := textIn(p.fields, "image_url")
			if textIn(p.fields, "file_id") == "" && !isAddress(address, "data:image/") {
				report(item.at, i, "image_url must be an address or a data URL, or file_id set")
			}
		case "input_file":
			if textIn(p.fields, "file_id") == "" && textIn(p.fields, "file_data") == "" &&
				!isAddress(textIn(p.fields, "file_url"), "https://") {
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
		if utf8.RuneCountInString(textIn(p.fields, "image_url")) > 20_971_520 {
			report(item.at, i, "image_url is too long")
		}
		if utf8.RuneCountInString(textIn(p.fields, "file_data")) > 33_554_432 {
			report(item.at, i, "file_data is too long")
		}
	})
}
