package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Media among a result's parts are replaced by the edit's text, as the record says, and the rest of the result stays.
func TestMediaOfResultAreReplacedByTheText(t *testing.T) {
	result := answering("a", resultText("see"), resultPicture("a.png"))
	result.GetParts()[0].GetToolResult().Files = []*compactordv1.FileTouch{{Path: "a.png"}}
	w := newLog(user("do"), assistant(calling("a", "shot", "")), result)
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[2.0 was a.png]"})
	require.Equal(t, `tool 2 replace_media: result a "see" "[2.0 was a.png]"`, drawn(w)[2])
	require.Len(t, w.State().View(everyOption[0]).Messages[2].GetMessage().GetParts()[0].GetToolResult().GetFiles(), 1)
}

// Of several media of one result the text tells all, so it stands there once, in the place of the first.
func TestSeveralMediaOfOneResultAreToldOnce(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "shot", "")),
		answering("a", resultPicture("a.png"), resultText("see"), resultPicture("b.png")))
	prune(w, &compactordv1.Edit{
		Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[a.png]\n[b.png]",
	})
	require.Equal(t, `tool 2 replace_media: result a "[a.png]\n[b.png]" "see"`, drawn(w)[2])
}
