package strategies_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/session"
)

func decimal(n int) string { return strconv.Itoa(n) }

func mask(p *compactordv1.MaskObservationsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{MaskObservations: p}}
}

func masking(keepGroups uint32) *compactordv1.MaskObservationsStrategy {
	return &compactordv1.MaskObservationsStrategy{KeepGroups: &keepGroups}
}

// maskingByRatio is a ladder that masks at the shares of the window at which xbot does. The strongest rung comes first,
// so that those after it find nothing left to do.
func maskingByRatio() *compactordv1.Strategy {
	ladder := &compactordv1.LadderStrategy{}
	for _, rung := range []struct {
		window uint32
		ratio  float64
	}{{3, 0.91}, {5, 0.81}, {8, 0.71}, {12, 0.61}} {
		ladder.Rungs = append(ladder.Rungs, &compactordv1.LadderStrategy_Rung{
			Strategy: mask(masking(rung.window)), AtRatio: proto.Float64(rung.ratio),
		})
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: ladder}}
}

func TestCase209MasksMoreTheFullerTheContextIs(t *testing.T) {
	t.Parallel()
	for ratio, left := range map[int]int{60: 20, 70: 12, 71: 8, 80: 8, 81: 5, 90: 5, 91: 3} {
		t.Run(fmt.Sprintf("%d percent", ratio), func(t *testing.T) {
			t.Parallel()
			l := newLog()
			l.policy = &compactordv1.Policy{ContextWindow: proto.Uint32(100_000)}
			l.script(fmt.Sprintf("U%d", ratio*1000-20*2002)).script(strings.Repeat("T2 R2000 ", 20))
			require.Equal(t, uint32(ratio*1000), l.head().GetViewTokens())
			require.Len(t, hiddenIn(planned(t, l, maskingByRatio())), 20-left)
		})
	}
}

func TestCase210MasksFromThreeHundredCharactersOn(t *testing.T) {
	t.Parallel()
	for name, character := range map[string]string{"ASCII": "x", "runes of three bytes": "字"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			for _, chars := range []int{299, 300} {
				l.script("T2:a")
				l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{
					resultPart("a", strings.Repeat(character, chars)),
				}})
			}
			l.script("T2 R10")
			p := masking(1)
			p.MinChars = proto.Uint32(300)
			requireHidden(t, l, mask(p), []uint32{4}, 0)
		})
	}
}

func TestCase211GroupsOfActiveFilesStay(t *testing.T) {
	t.Parallel()
	// reads appends a group that reads files.
	reads := func(l *testLog, paths ...string) {
		call := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
		for i, path := range paths {
			call.Parts = append(call.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
				ToolCall: &compactordv1.ToolCall{Id: fmt.Sprint("id", i), Name: "read", Arguments: fmt.Sprintf(`{"path":%q}`, path)},
			}})
		}
		l.add(call)
		for i := range paths {
			l.script(fmt.Sprintf("R500:id%d", i))
		}
	}
	log := func() *testLog {
		l := newLog().script("U")
		reads(l, "old.go")            // 1, 2
		reads(l, "a.go")              // 3, 4
		reads(l, "b.go", "other.go")  // 5, 6, 7
		reads(l, "elsewhere/a.go")    // 8, 9
		l.script("T2:bash/x R500:x")  // 10, 11: a tool that no map knows
		reads(l, "fresh.go", "b.go")  // 12, 13, 14
		l.script("T2:bash/y R500:y")  // 15, 16
		reads(l, "a.go", "newest.go") // 17, 18, 19
		// A file that a result reports as touched does not count: only calls name files.
		l.messages[11].GetMessage().GetParts()[0].GetToolResult().Files = []*compactordv1.FileTouch{{Path: "a.go"}}
		return l
	}
	for _, c := range []struct {
		active uint32
		hidden []uint32
	}{
		{0, []uint32{2, 4, 6, 7, 9, 11, 13, 14, 16}},
		{1, []uint32{2, 6, 7, 9, 11, 13, 14, 16}},
		{2, []uint32{2, 6, 7, 9, 11, 13, 14, 16}},
		// Case 211: the files of the last three rounds include b.go. A group's results all stay.
		{3, []uint32{2, 9, 11, 16}},
		{1000, []uint32{11, 16}},
	} {
		t.Run(fmt.Sprint(c.active), func(t *testing.T) {
			t.Parallel()
			p := masking(1)
			p.ActiveFileGroups = &c.active
			requireHidden(t, log(), mask(p), c.hidden, 0)
		})
	}
	t.Run("by the policy's own tools", func(t *testing.T) {
		t.Parallel()
		l := log()
		l.policy.FileTools = &compactordv1.FileTools{Tools: []*compactordv1.FileTool{
			{Names: []string{"open"}, PathArguments: []string{"path"}},
		}}
		p := masking(1)
		p.ActiveFileGroups = proto.Uint32(3)
		requireHidden(t, l, mask(p), []uint32{2, 4, 6, 7, 9, 11, 13, 14, 16}, 0)
	})
}

// Ours leaves the ASSISTANT message unchanged, with or without text, and gives each result its own placeholder.
func TestCase212EachResultHasItsOwnPlaceholder(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2:a,b,c R200:a R200:b R10:c T2 R10")
	before := l.state().View(session.ViewOptions{}).Messages
	p := masking(1)
	p.MinChars = proto.Uint32(300)
	requireHidden(t, l, mask(p), []uint32{2, 3}, 0)
	after := l.state().View(session.ViewOptions{}).Messages
	requireEqual(t, before[1], after[1])
	requireEqual(t, before[4], after[4])
	for i, id := range map[int]string{2: "a", 3: "b"} {
		r := after[i].GetMessage().GetParts()[0].GetToolResult()
		require.Equal(t, id, r.GetCallId())
		require.Contains(t, r.GetParts()[0].GetText().GetText(), fmt.Sprintf("recall index %d, part 0", i))
	}
}

func TestCase213ASecondPassMasksNothing(t *testing.T) {
	t.Parallel()
	// One group of three results, one of them short: two are masked.
	l := newLog().script("U T2:a,b,c R200:a R200:b R10:c T2 R10")
	p := masking(1)
	// A placeholder that is as long as the masked result.
	p.MinChars, p.Placeholder = proto.Uint32(300), proto.String(strings.Repeat("x", 400))
	made := planned(t, l, mask(p))
	require.Equal(t, []uint32{2, 3}, hiddenIn(made))
	l.commit(made, "")
	require.Equal(t, nothing, planned(t, l, mask(p)).GetSkipReason())
}

func TestCase214EmptyAndNullAreNeverMasked(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "null"} {
		t.Run("content "+content, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U T2:a")
			l.add(&compactordv1.Message{
				Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{resultPart("a", content)},
			})
			l.script("T2 R100")
			p := masking(1)
			for _, placeholder := range []string{"", "-", "[hidden]"} {
				p.Placeholder = &placeholder
				requireHidden(t, l, mask(p), nil, nothing)
			}
		})
	}
}

// No store can fill up: however many results are masked, each can be recalled with its placeholder.
func TestCase215NothingMaskedIsEverEvicted(t *testing.T) {
	t.Parallel()
	const groups = 250
	l := newLog().script("U")
	for range groups {
		l.script("T2 R2100")
	}
	made := planned(t, l, mask(masking(1)))
	require.Len(t, made.GetEdits(), groups-1, "over 200 entries")
	characters := 0
	l.commit(made, "")
	for _, vm := range l.state().View(session.ViewOptions{}).Messages {
		if len(vm.GetEdits()) == 0 {
			continue
		}
		shown := vm.GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
		at, err := recall.ParseReference(shown)
		require.NoError(t, err)
		content, err := recall.ContentOf(l.messages[at.Index], at.Part, at.ResultPart)
		require.NoError(t, err)
		require.Equal(t, textOf(2100), content.Text)
		characters += len(content.Text)
	}
	require.Greater(t, characters, 2_000_000)
}

func TestMaskObservations(t *testing.T) {
	t.Parallel()
	turns := func(n uint32) *compactordv1.MaskObservationsStrategy {
		return &compactordv1.MaskObservationsStrategy{KeepTurns: &n}
	}
	with := func(p *compactordv1.MaskObservationsStrategy, minimum uint32, tools ...string) *compactordv1.MaskObservationsStrategy {
		p.MinimumTokens, p.ProtectedTools = &minimum, tools
		return p
	}
	for _, c := range []struct {
		name   string
		log    string
		mask   *compactordv1.MaskObservationsStrategy
		hidden []uint32
		skip   compactordv1.SkipReason
	}{
		{"nothing at all", "", nil, nil, nothing},
		{"ten by default", groupsOf(10, 100), nil, nil, nothing},
		{"the eleventh", groupsOf(11, 100), nil, []uint32{2}, 0},
		{"parallel calls are one", "U T2:a,b R100:b R100:a T2 R100", masking(1), []uint32{2, 3}, 0},
		{"an open group is one of the newest", "U T2 R100 T2 R100 T2:a,b R100:a", masking(2), []uint32{2}, 0},
		{"errors are masked", "U T2 E100 T2 R100", masking(1), []uint32{2}, 0},
		{"what was recalled is not", "U T2:search_messages/a R100 T2 R100", masking(1), nil, nothing},
		{"stray results before the window", "U R100:x T2 R100 T2 R100 R100:y A", masking(1), []uint32{1, 3}, 0},
		{"a protected tool's stay", "U T2:skill/a R100 T2:b R100 T2 R100", with(masking(1), 0, "skill"), []uint32{4}, 0},
		{"no more than the minimum", "U T2 R100 T2 R100", with(masking(1), 100), nil, tooFew},
		{"more than the minimum", "U T2 R101 T2 R100", with(masking(1), 100), []uint32{2}, 0},

		{"turns: the newest stay whole", "U T2 R100 T2 R100 U T2 R100 T2 R100", turns(1), []uint32{2, 4}, 0},
		{"turns: as many as there are", "U T2 R100 U T2 R100", turns(2), nil, nothing},
		{"turns: fewer than there are to be", "T2 R100 U T2 R100", turns(2), nil, nothing},
		{"turns: what stands before the first", "T2 R100 U T2 R100", turns(1), []uint32{1}, 0},
		{"turns: an import starts one, a marker none", "U T2 R100 I T2 R100 M C T2 R100", turns(1), []uint32{2}, 0},
		{"turns: stray results, too", "U R100:x U R100:y", turns(1), []uint32{1}, 0},
		{"turns: a late result stays in its own", "U T2:a U R100:a", turns(1), nil, nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireHidden(t, newLog().script(c.log), mask(c.mask), c.hidden, c.skip)
		})
	}
}
