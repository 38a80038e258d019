package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/recall"
)

const hiddenNotice = "[The result of read (648 tokens) was hidden to free context. To read it again, recall index 2, part 0.]"

func TestParseReference(t *testing.T) {
	for text, want := range map[string]recall.Reference{
		"#12":                     {Index: 12},
		" #12 ":                   {Index: 12},
		"[#12]":                   {Index: 12},
		"#12.0":                   {Index: 12, Part: proto.Uint32(0)},
		"[#12.0]":                 {Index: 12, Part: proto.Uint32(0)},
		"#12.0.1":                 {Index: 12, Part: proto.Uint32(0), ResultPart: proto.Uint32(1)},
		"12":                      {Index: 12},
		" 12\n":                   {Index: 12},
		"0":                       {Index: 0},
		"12.0":                    {Index: 12, Part: proto.Uint32(0)},
		"12.0.1":                  {Index: 12, Part: proto.Uint32(0), ResultPart: proto.Uint32(1)},
		"4294967295":              {Index: 4294967295},
		"index 12":                {Index: 12},
		"index 12, part 0":        {Index: 12, Part: proto.Uint32(0)},
		"Recall index 12.":        {Index: 12},
		"#4294967295":             {Index: 4294967295},
		"#007":                    {Index: 7},
		"See #3, and #3.":         {Index: 3},
		"见“#12”。":                 {Index: 12},
		"[read: gone, 5 t, #2.1]": {Index: 2, Part: proto.Uint32(1)},
		hiddenNotice:              {Index: 2, Part: proto.Uint32(0)},
		`{"_cleared":"the arguments (70 tokens) were cleared to free context; recall index 5, part 1"}`: {
			Index: 5, Part: proto.Uint32(1),
		},
		"#9\n" + hiddenNotice + "\n": {Index: 2, Part: proto.Uint32(0)},
		"index 1, part 0 and #3.1\n[9 characters left out. To read the whole result, recall index 2, part 0.]": {
			Index: 2, Part: proto.Uint32(0),
		},
		"quoted: [It was hidden. To read it again, recall index 9, part 0.]\n" + hiddenNotice: {
			Index: 2, Part: proto.Uint32(0),
		},
		"<tool_result tool=\"#5\">\n" + hiddenNotice + "\n</tool_result>": {Index: 2, Part: proto.Uint32(0)},
		hiddenNotice + " " + hiddenNotice + " #7":                         {Index: 2, Part: proto.Uint32(0)},
	} {
		got, err := recall.ParseReference(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseReferenceRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                            "write #12",
		"-1":                          "write #12",
		"+1":                          "write #12",
		"12.":                         "write #12",
		".12":                         "write #12",
		"12.-1":                       "write #12",
		"12.0.1.4":                    "write #12",
		"1 2":                         "write #12",
		"1, 2":                        "write #12",
		"see 12":                      "write #12",
		"12 tokens":                   "write #12",
		"1e3":                         "write #12",
		"0x1":                         "write #12",
		"١٢":                          "write #12",
		"4294967296":                  "over 4294967295",
		"12.4294967296":               "over 4294967295",
		"#-1":                         "write #12",
		"# 1":                         "write #12",
		"../x":                        "write #12",
		"a/b":                         "write #12",
		"../#12":                      "write #12",
		"other#12":                    "write #12",
		"other/#12":                   "write #12",
		"http://host/?#12":            "write #12",
		"#12/../13":                   "write #12",
		"#12-15":                      "write #12",
		"#12–15":                      "write #12",
		"#12abc":                      "write #12",
		"#12é":                        "write #12",
		"#12.0.1.4":                   "write #12",
		"#12.x":                       "write #12",
		"#1,2":                        "write #12",
		"index -1":                    "write #12",
		"myindex 1":                   "write #12",
		"#4294967296":                 "over 4294967295",
		"#0.4294967296":               "over 4294967295",
		"#99999999999999999999999999": "over 4294967295",
		"index 1, part 5000000000":    "over 4294967295",
		"#1 #2":                       "several",
		"[#1, #2]":                    "several",
		"#1 or index 1, part 0":       "several",
		"#1, recall index 2, part 0.": "several",
		"[To read it again, recall index 2, part 0.] [To read it again, recall index 3, part 0.] of #4": "several",
		"#1\n[To read it again, recall index 5000000000, part 0.]":                                      "over 4294967295",
	} {
		_, err := recall.ParseReference(text)
		require.ErrorIs(t, err, recall.ErrReference, text)
		require.ErrorContains(t, err, why, text)
	}
}

// No text makes the parser panic, quote the text, or return a number that is not in it.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{"#12", "[#12.0]", "#12.0.1", "index 12, part 0", "../x", "#4294967296", "#1 #2", "\xff#1", "12", "12.0.1", "-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := recall.ParseReference(text)
		if err != nil {
			require.ErrorIs(t, err, recall.ErrReference)
			return
		}
		written := fmt.Sprintf("#%d", got.Index)
		for _, n := range []*uint32{got.Part, got.ResultPart} {
			if n != nil {
				written += fmt.Sprintf(".%d", *n)
			}
		}
		require.True(t, strings.Contains(text, "#") || strings.Contains(strings.ToLower(text), "index ") ||
			strings.Trim(text, "0123456789.\t\n\f\r ") == "", text)
		again, err := recall.ParseReference(written)
		require.NoError(t, err, written)
		require.Equal(t, got, again)
	})
}
