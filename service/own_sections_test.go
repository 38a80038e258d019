package service_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// chinese are user-defined sections, one below another one, and none for the files.
func chinese() []*compactordv1.Section {
	return []*compactordv1.Section{
		{Title: "目标", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
		{Title: "底线", Role: compactordv1.SectionRole_SECTION_ROLE_CONSTRAINTS},
		{Title: "进展", Subsections: []*compactordv1.Section{
			{Title: "已完成", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
			{Title: "阻碍", Role: compactordv1.SectionRole_SECTION_ROLE_PROBLEMS},
		}},
		{Title: "决策", Role: compactordv1.SectionRole_SECTION_ROLE_DECISIONS},
		{Title: "其他", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
	}
}

// german are other user-defined sections, one of them for everything else.
func german() []*compactordv1.Section {
	return []*compactordv1.Section{
		{Title: "Was bisher geschah", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
		{Title: "Woran gearbeitet wird", Role: compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
	}
}

func inSections(name string, sections []*compactordv1.Section) *compactordv1.Policy {
	policy := by(name, noFallback, keepTurns(1))
	policy.Summary.Sections = &compactordv1.SectionList{Sections: sections}
	return policy
}

func headingsOf(summary string) []string {
	var lines []string
	for line := range strings.Lines(summary) {
		if strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// below returns the text below a heading of a summary.
func below(t *testing.T, summary, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(summary+"\n", heading+"\n")
	require.True(t, found, "%s\n%s", heading, summary)
	text, _, _ := strings.Cut(rest, "\n#")
	return text
}

// requireHeadings requires that a summary has these headings, and otherwise only headings of the sections, in order.
func requireHeadings(t *testing.T, want []string, sections []*compactordv1.Section, summary string) {
	t.Helper()
	got := headingsOf(summary)
	require.Subset(t, got, want)
	var inOrder []string
	for _, h := range summarizers.Headings(summarizers.History, sections) {
		if slices.Contains(got, h.Line()) {
			inOrder = append(inOrder, h.Line())
		}
	}
	require.Equal(t, inOrder, got)
}

// A summary has sections of the policy, in any language. The next summary continues it, whatever sections it has
// itself.
func TestOwnSections(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", inSections("extractive", chinese()))
	compacted := func(policy *compactordv1.Policy) *compactordv1.CompactionEntry {
		events, err := d.compact(compactRequest("s", policy))
		require.NoError(t, err)
		entry := last(t, events).GetCompleted().GetCompaction()
		require.NotNil(t, entry)
		return entry
	}
	work := func(texts ...string) {
		for _, text := range texts {
			d.append("s", user(text), assistant("好的。"+strings.Repeat("我在看代码。", 300)))
		}
	}
	work("请修复导出功能丢失最后一行的问题。永远不要修改 legacy 目录。", "决定采用游标分页，因为这样更快。", "先看一下测试。", "请继续修复分页，再检查测试。")
	first := compacted(nil)
	requireHeadings(t, []string{"## 目标", "## 底线", "## 决策"}, chinese(), first.GetSummary())
	require.Contains(t, below(t, first.GetSummary(), "## 底线"), "永远不要修改 legacy 目录。 [#0]")
	requireSameSections(t, chinese(), first.GetSections())

	work("现在写文档。", "请更新变更日志。")
	changed := compacted(inSections("extractive", german()))
	requireHeadings(t, []string{"## Was bisher geschah", "## Woran gearbeitet wird"}, german(), changed.GetSummary())
	require.Contains(t, below(t, changed.GetSummary(), "## Was bisher geschah"), "- Constraint: 永远不要修改 legacy 目录。 [#0]")
	requireSameSections(t, german(), changed.GetSections())

	work("请发布新版本。", "请通知大家。")
	back := compacted(nil)
	requireHeadings(t, []string{"## 目标", "## 底线", "## 决策"}, chinese(), back.GetSummary())
	require.Contains(t, below(t, back.GetSummary(), "## 底线"), "- 永远不要修改 legacy 目录。 [#0]")
	require.NotContains(t, back.GetSummary(), "Constraint:", "it is a rule again, and no other line")
	d.requireSound(t)
}

func requireSameSections(t *testing.T, want, got []*compactordv1.Section) {
	t.Helper()
	require.True(t, proto.Equal(&compactordv1.SectionList{Sections: want}, &compactordv1.SectionList{Sections: got}), "%v", got)
}

// A model is asked for the sections of the policy, and its text is stored with their titles.
func TestModelWritesOwnSections(t *testing.T) {
	t.Parallel()
	const answer = "### 2. 目标：\n修复导出 [#1]\n\n**底线**\n- 不要修改 main.go [#0]\n\n<阻碍>- 网络不通 [#3]</阻碍>"
	var asked []*compactordv1.Section
	d := start(t, withSummarizer(&scripted{name: "writer", do: func(
		_ context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		asked = req.Sections
		p.Text(answer)
		return &summarizers.Summary{Text: answer, Calls: 1}, nil
	}}))
	d.create("s", inSections("writer", chinese()))
	d.append("s", working(4, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireSameSections(t, chinese(), asked)
	require.Equal(t, "## 目标\n修复导出 [#1]\n\n## 底线\n- 不要修改 main.go [#0]\n\n## 进展\n\n"+
		"### 阻碍\n- 网络不通 [#3]", unquoted(last(t, events).GetCompleted().GetCompaction().GetSummary()))
	d.requireSound(t)
}

// Sections that no summary could have are refused in the policy, with the field that is wrong.
func TestSectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	list := chinese()
	list[4].Title = "1. 目标："
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: inSections("extractive", list),
	})
	info := requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
	require.Equal(t, "policy.summary.sections.sections[4].title", info.GetMetadata()["field"])
	_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: inSections("extractive", nil),
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}
