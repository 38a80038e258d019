package dialecttest

import (
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var mimeTypes = []string{
	"image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml", "image/*", "application/pdf", "text/plain",
	"audio/wav", "audio/mpeg", "audio/*", "video/mp4", "application/octet-stream", "IMAGE/PNG; charset=x", "nonsense", "/",
}

func (g *Generator) media(t *rapid.T) *compactordv1.MediaPart {
	m := &compactordv1.MediaPart{MimeType: oneOf(t, mimeTypes), Name: oneOf(t, []string{"", "", "plan.png", "läuft 🙂", "\x00"})}
	if chance(t, 40) {
		m.Owner = oneOf(t, dialectsOf)
		g.count(MediaOwned, true)
	}
	switch dice(t, 4) {
	case 2:
		m.Source = &compactordv1.MediaPart_Uri{Uri: oneOf(t, []string{
			"https://example.com/plan.png", "gs://bucket/plan.png", "http://example.com/ä?a=b&c", "data:image/png;base64,AQID",
			"plan.png", "", "https://generativelanguage.googleapis.com/v1beta/files/abc",
		})}
		g.count(MediaURI, true)
	case 3:
		m.Source = &compactordv1.MediaPart_FileId{FileId: oneOf(t, []string{"file_011", "file-abc", "files/abc", "", "🙂"})}
		g.count(MediaFileID, true)
	default:
		m.Source = &compactordv1.MediaPart_Data{Data: oneOf(t, [][]byte{{1, 2, 3}, {0xff, 0xfe, 0xfd, 0xfc}, {}, []byte("text")})}
		g.count(MediaData, true)
	}
	return m
}

// knownOpaque are items without a neutral meaning that their provider accepts back, in every place for their kind.
var knownOpaque = []*compactordv1.OpaquePart{
	{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Type: "compaction",
		Json: `{"type":"compaction","content":"What was before."}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Type: "server_tool_use",
		Json: `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Type: "container_upload",
		Json: `{"type":"container_upload","file_id":"file_1"}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, Type: "compaction",
		Json: `{"type":"compaction","id":"cmp_1","encrypted_content":"Z2VoZWlt"}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, Type: "web_search_call",
		Json: `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_GEMINI, Type: "executableCode",
		Json: `{"executableCode":{"language":"PYTHON","code":"print(1)"}}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_GEMINI, Type: "codeExecutionResult",
		Json: `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}`,
	},
	{
		Dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT, Type: "file",
		Json: `{"type":"file","file":{"file_id":"file-abc"}}`,
	},
}

func (g *Generator) opaque(t *rapid.T) *compactordv1.OpaquePart {
	switch dice(t, 4) {
	case 2:
		g.count(OpaqueNonsense, true)
		return &compactordv1.OpaquePart{
			Dialect: oneOf(t, dialectsOf), Type: oneOf(t, []string{"", "x", "text"}), Json: oneOf(t, append([]string{`{"x":1}`}, oddValues...)),
		}
	case 3:
		g.count(OpaqueNoJSON, true)
		return &compactordv1.OpaquePart{Dialect: oneOf(t, dialectsOf), Type: "x", Json: oneOf(t, append([]string{""}, notJSON...))}
	default:
		g.count(OpaqueKnown, true)
		return oneOf(t, knownOpaque)
	}
}
