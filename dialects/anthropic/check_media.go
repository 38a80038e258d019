package anthropic

import (
	"slices"
	"strings"
)

func checkMediaSource(d *decoded, report report) {
	d.eachBlock(func(i int, b decodedBlock) {
		if b.typ != typeImage && b.typ != typeDocument {
			return
		}
		source, err := d.by.SplitObject(b.fields["source"])
		if err != nil {
			return
		}
		if wrong := sourceError(decodedBlock{fields: source}, b.typ == typeImage); wrong != "" {
			report(i, b.part, wrong)
		}
	})
}

// sourceError returns what is wrong with the source of an image or a document. Unknown types are not checked.
func sourceError(source decodedBlock, image bool) string {
	mime := source.text("media_type")
	switch source.text("type") {
	case sourceBase64:
		switch {
		case source.text("data") == "":
			return "the source has no data"
		case image && !slices.Contains(imageTypes, mime), !image && mime != mimePDF:
			return "the type of the data is none that the provider takes"
		}
	case sourceText:
		if image || mime != mimePlain || isBlank(source.text("data")) {
			return "the source is not plain text of a document that says something"
		}
	case sourceURL:
		if url := source.text("url"); !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
			return "the source is no web address"
		}
	case sourceFile:
		if source.text("file_id") == "" {
			return "the source has no file id"
		}
	case sourceContent:
		if image {
			return "an image has no source of blocks"
		}
	}
	return ""
}

func checkMediaSize(d *decoded, report report) {
	d.eachBlock(func(i int, b decodedBlock) {
		if b.typ != typeImage {
			return
		}
		source, err := d.by.SplitObject(b.fields["source"])
		// The quotes do not count.
		if err == nil && source.IsText("type", sourceBase64) && len(source["data"])-2 > maxImage {
			report(i, b.part, "the image is too large")
		}
	})
}
