package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// drawn is a draft, and the object that it is with all of its fields.
type drawn struct {
	draft rawjson.Draft
	// object is the draft's own, which gets the field that it lacks; nil where it was made of JSON.
	object, whole rawjson.Object
	inner         []*drawn
	// key is the field that inner is in; array reports that it is one, and json that the draft was made of JSON.
	key         string
	array, json bool
}

func drawDraft(t *rapid.T, w *rawjson.Writer, depth int) *drawn {
	names := []string{"type", "role", "id", "content", "a", "\""}
	d := &drawn{object: rawjson.Object{}, whole: rawjson.Object{}}
	for _, key := range rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "fields") {
		d.object[key], d.whole[key] = json.RawMessage("1"), json.RawMessage("1")
	}
	d.key = rapid.SampledFrom(names).Draw(t, "key")
	switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
	case kind == 0:
		d.draft, d.key = rawjson.Whole(d.object), ""
	case kind == 1:
		d.draft, d.key, d.json = rawjson.Written(w.Object(d.object)), "", true
	case kind == 2 && depth > 0:
		in := drawDraft(t, w, depth-1)
		d.inner = []*drawn{in}
		d.whole[d.key] = in.whole.Encode()
		d.draft = rawjson.WithObject(d.object, d.key, in.draft)
	case kind == 3 && depth > 0:
		d.array = true
		var drafts []rawjson.Draft
		encoded := []json.RawMessage{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			in := drawDraft(t, w, depth-1)
			d.inner, drafts, encoded = append(d.inner, in), append(drafts, in.draft), append(encoded, in.whole.Encode())
		}
		d.whole[d.key] = rawjson.EncodeArray(encoded)
		d.draft = rawjson.WithArray(d.object, d.key, drafts)
	default:
		// Many short escapes make the text longer than it was thought to be.
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n\"\x01é"))).Draw(t, "text")
		d.whole[d.key] = rawjson.Quote(text)
		d.draft = rawjson.WithText(d.object, d.key, text)
		require.Equal(t, text, d.draft.Text())
	}
	return d
}

// requireKnown reads an object, and those in it, as the Writer knows them. A nil Writer reads their JSON.
func (d *drawn) requireKnown(t *rapid.T, w *rawjson.Writer, raw json.RawMessage) {
	require.Equal(t, string(d.whole.Encode()), string(raw))
	require.Equal(t, w != nil, w.Wrote(raw))
	object, err := w.SplitObject(raw)
	require.NoError(t, err)
	require.Equal(t, d.whole, object)
	switch {
	case d.array:
		require.Equal(t, w != nil, w.Wrote(object[d.key]))
		elements, err := w.SplitArray(object[d.key])
		require.NoError(t, err)
		require.Len(t, elements, len(d.inner))
		for i, in := range d.inner {
			in.requireKnown(t, w, elements[i])
		}
	case len(d.inner) > 0 && !d.inner[0].json:
		d.inner[0].requireKnown(t, w, object[d.key])
	}
}

// A draft is written as the object that has all of its fields, and is known then, with all that stands in it.
func TestDrafts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var w *rawjson.Writer
		if rapid.Bool().Draw(t, "writer") {
			w = rawjson.NewWriter(0)
		}
		d := drawDraft(t, w, 3)
		d.requireKnown(t, w, w.Write(d.draft))
	})
}
