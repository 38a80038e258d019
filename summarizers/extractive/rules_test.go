package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive"
)

// TestRulesInManyWords: the phrases cover the many ways in which people and operators express rules.
func TestRulesInManyWords(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"Every public function needs a doc comment.", "Tests have to pass on Windows too.", "It is forbidden to log card numbers.",
		"Don't use mocks in integration tests.", "The API key may not appear in the logs.", "Nobody but me merges to main.",
		"Please refrain from reformatting files you don't otherwise change.", "I want all dates as ISO 8601.", "Tabs, not spaces.",
		"No semicolons in TypeScript.", "We only support PostgreSQL 14 and later.", "British spelling everywhere.",
		"The binary can't be bigger than 10 MB.", "Let's not break the v1 API.", "Nothing may be deleted without a backup.",
		"Commits need to be signed.", "Just don't rename the package.", "Use tabs for indentation.", "Write comments in English only.",
		"Money is always an integer.", "Please keep the public API unchanged.", "Timeouts must not exceed 30 seconds.",
		"You are not allowed to access the network.", "Skip the e2e tests, they're too slow.", "Work only on the branch feature/x.",
		"Before committing, run make check.", "Please respond in French.", "Passwords are never stored in plain text.",
		"The user dislikes emojis.", "All SQL goes through the repository layer.", "Do all work in a feature branch.",
		"Limit the response to three sentences.", "I'd prefer it without a framework.", "I hate long functions.", "Be concise.",
		"Python 3.8 compatibility is required.", "Secrets belong in the vault, not in code.", "DON’T EVER FORCE-PUSH.",
		"代码里不能出现硬编码的密码。", "回答请用英文。", "数据库迁移只能由我来执行。", "函数不要超过50行。", "测试覆盖率不低于80%。", "请不要改动公共接口。",
		"使用 pnpm，不要用 npm。", "变量名用驼峰。", "每次提交前先跑测试。", "生产环境严禁直接修改。", "不许删除任何数据。", "日志中不得包含用户信息。",
		"我不喜欢太长的函数。", "所有时间都用 UTC。", "保留原有的注释。", "上线前必须经过评审。", "错误信息要用中文。", "不要动 config 目录。",
		"只改 src 目录下的文件。", "尽可能少引入依赖。", "配置文件不可以提交。",
	} {
		var c conversation
		c.user("Good morning. Have a look at the parser, it fails on nested comments.")
		c.user("Here is what holds from today on:\n\n" + rule + "\n\nCan you look at the importer first?")
		c.user("And now look at the exporter of the same module.")
		require.Contains(t, below(c.summary(t, ""), "## Constraints & Preferences"), "- "+rule+" [#1]")
	}
}

// TestStoriesAreNoRules: the same words in a story or a question are not a rule.
func TestStoriesAreNoRules(t *testing.T) {
	t.Parallel()
	for _, story := range []string{
		"I never saw this page before today.", "I don't know where it comes from.", "It always worked on my machine.", "They don't show up in the list.",
		"Why must it be so slow?", "Should we always retry?", "The tests don't pass yet.", "No problem.", "为什么必须重启？",
		`{"must":"never","always":{"only":"x"},"use":"y"}`, "TypeError: value must not be null",
	} {
		var c conversation
		c.user("Please have a look at the importer.\n\n" + story)
		require.Empty(t, below(c.summary(t, ""), "## Constraints & Preferences"), story)
	}
}

// TestRulesWithinAMessage: a rule between other sentences of a long message has its line, in languages of which only the
// words of rules are known, and if the user asks whether it was understood.
func TestRulesWithinAMessage(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"Raak de tabel invoices niet aan.", "Schrijf nooit naar de tabel invoices.", "Non toccare la tabella invoices.", "Nie ruszaj tabeli invoices.", "Nesahej na tabulku invoices.",
		"Rör inte tabellen invoices.", "Endre ikke tabellen invoices.", "invoices tablosuna asla dokunma.", "Jangan ubah tabel invoices.", "Ніколи не змінюй таблицю invoices.",
		"Bitte nichts an der Tabelle invoices ändern.", "Keep your hands off the table invoices, ok?", "Whatever you do, the table invoices keeps its columns.",
		"Every change of the table invoices needs a test.", "The table invoices stays untouched.",
	} {
		var c conversation
		c.user("Add paging to the export of the shop.")
		c.says("I look at the exporter.")
		c.user(strings.Repeat("The accountants of the shop read the report on Mondays. ", 4) + rule + strings.Repeat(" The clerks of the depot count the boxes by hand.", 4))
		require.Contains(t, below(c.summary(t, ""), "## Constraints & Preferences"), rule+" [#2]")
	}
}

// A sentence with a rule was cut out of the last request as a whole, with the task in it.
func TestTheTaskBesideARuleStaysInTheLastRequest(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Port the parser to Go, but never touch the old one. Then write the release notes.": "Port the parser to Go. Then write the release notes.",
		"Write the release notes. Port the parser to Go; it must not use cgo.":              "Write the release notes. Port the parser to Go.",
		"Always run the linter before you commit. Then add a flag to the command `sync`.":   "Then add a flag to the command `sync`.",
	} {
		var c conversation
		c.user("Build the timetable of the ferries, with a page for each harbour and a search.")
		c.says("Built.")
		at := c.user(said)
		c.tool("read", `{"path":"ferries.go"}`, "package ferries", false)
		text := c.summary(t, "")
		require.Contains(t, text, fmt.Sprintf("- Last request: %s [#%d]\n", want, at))
	}
}

// A sentence that completes a rule stands with it, and not alone in the request.
func TestARuleIsWhole(t *testing.T) {
	t.Parallel()
	const rule, more = "If you look for a boat behind line 99 of the book, don't turn page after page.", "Instead, go to its number at once."
	var c conversation
	c.user("Enter the boats of today, and look at what the office has in its book about each of them before you do so. " +
		"The office opens at nine and closes at four, and the crane has a break of an hour at noon, so that it is best to begin early.\n\n" +
		"1. Begin with the oldest boats of the other side.\n2. " + rule + " " + more + " The book has 400 pages by now, and it was bound anew in spring.")
	c.says("I begin.")
	text := c.summary(t, "")
	require.Contains(t, below(text, rulesHeading), rule+" "+more)
	require.Equal(t, 1, strings.Count(text, more), text)
}

// An order that only names what must not be somewhere is as firm as one with a verb.
func TestWhatMustNotBeSomewhereIsFirm(t *testing.T) {
	t.Parallel()
	for text, firm := range map[string]bool{
		"No mocks in these tests.":                 true,
		"Please no abbreviations.":                 true,
		"please also no new words for the harbour": true,
		"No boats for the guests of the office":    true,
		"No errors in the list of the boats.":      false,
		"No crane was seen in the harbour.":        false,
		"No idea.":                                 false,
		"No just the boats in the list.":           false,
	} {
		require.Equal(t, firm, extractive.ForbidsThings(text), text)
	}
}
