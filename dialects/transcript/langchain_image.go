package transcript

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// langChainImage parses an image_url block, which has the shape of OpenAI's part. It does not use the dialect, which
// reads whole messages and names their fields in errors. Here an error names the field of LangChain's message.
func langChainImage(o rawjson.Object) (*compactordv1.Part, error) {
	const kind = "image_url"
	content, err := o.Sub(kind)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, rawjson.In(kind, rawjson.ErrMissing)
	}
	part := mediaPart(&compactordv1.MediaPart{})
	url, err := content.DemandText("url")
	if err != nil {
		return nil, rawjson.In(kind, err)
	}
	if err := dialect.FillFromURL(part.GetMedia(), url, "image/*"); err != nil {
		return nil, rawjson.In(kind, rawjson.In("url", err))
	}
	part.Attachments, err = openAIAttachments(content, "url")
	return part, rawjson.In(kind, err)
}
