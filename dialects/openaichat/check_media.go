package openaichat

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// eachMedium checks the user's parts of a type. wrong returns what is wrong, or nothing.
func eachMedium(d *decoded, partType string, report report, wrong func(rawjson.Object) string) {
	for i, m := range d.messages {
		for j, p := range m.parts {
			if m.role != roleUser || p.partType != partType {
				continue
			}
			inner, err := d.by.SplitObject(p.object[partType])
			if err != nil {
				report(i, j, partType+" must be an object")
				continue
			}
			if detail := wrong(inner); detail != "" {
				report(i, j, detail)
			}
		}
	}
}

func checkImageSource(d *decoded, report report) {
	eachMedium(d, typeImage, report, func(image rawjson.Object) string {
		url := image.TextOrEmpty("url")
		if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
			return ""
		}
		if !isBase64URL(url, "image/jpg", "image/jpeg", "image/png", "image/gif", "image/webp") {
			return "image_url.url is neither a web address nor a data URL of an image that the provider takes"
		}
		return ""
	})
}

func checkAudioFormat(d *decoded, report report) {
	eachMedium(d, typeAudio, report, func(audio rawjson.Object) string {
		if format := audio.TextOrEmpty("format"); format != "wav" && format != "mp3" {
			return "input_audio.format is neither wav nor mp3"
		}
		if !isBase64(audio.TextOrEmpty("data")) {
			return "input_audio.data is no base64"
		}
		return ""
	})
}

func checkFileSource(d *decoded, report report) {
	eachMedium(d, typeFile, report, func(file rawjson.Object) string {
		switch {
		case file.Has("file_data"):
			if !isBase64URL(file.TextOrEmpty("file_data"), "application/pdf") {
				return "file.file_data is no data URL of a PDF"
			}
		case file.TextOrEmpty("file_id") == "":
			return "file holds neither file_data nor file_id"
		}
		return ""
	})
}

func isBase64URL(url string, types ...string) bool {
	head, body, found := strings.Cut(url, ";base64,")
	return found && slices.Contains(types, strings.TrimPrefix(head, "data:")) && strings.HasPrefix(head, "data:") && isBase64(body)
}

func isBase64(encoded string) bool {
	_, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && encoded != ""
}
