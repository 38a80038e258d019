package extractive_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// TestAFileHasOnePath: the same file by an absolute path, by one relative to the root, and by a command in a folder, is
// listed once.
func TestAFileHasOnePath(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(c *conversation){
		"a command changes to it": func(c *conversation) { c.runs("cd /home/me/shop && go test ./...", "ok", false) },
		"a program says it": func(c *conversation) {
			c.user("<environment_context>\n  <cwd>/home/me/shop</cwd>\n</environment_context>")
		},
		"a label says it": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_DEVELOPER, textPart("You work on a machine.\nWorking directory: /home/me/shop\nPlatform: linux"))
			c.log[len(c.log)-1].Message.Role = compactordv1.Role_ROLE_SYSTEM
		},
		"a program says it beside the user's words": func(c *conversation) {
			c.user("Look at its tests, too.\n<env>\nWorking directory: /home/me/shop\nPlatform: linux\n</env>")
		},
		"a call has it": func(c *conversation) {
			c.tool("shell", `{"command":["ls"],"workdir":"/home/me/shop"}`, "src", false)
		},
		"a file stands there": func(c *conversation) {
			c.tool("read_file", `{"path":"/home/me/shop/go.mod"}`, "module shop", false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user("Add paging to the export of the shop.")
			tell(&c)
			c.tool("read_file", `{"path":"/home/me/shop/src/pager.go"}`, "package src", false)
			c.tool("edit", `{"path":"src/pager.go","oldText":"a","newText":"b"}`, "ok", false)
			c.runs("cat ./src/export.go", "package src", false)
			c.runs("cd /home/me/shop/src && cat export.go", "package src", false)
			c.tool("read_file", `{"path":"/home/me/other/src/pager.go"}`, "package src", false)
			c.tool("read_file", `{"path":"/home/me/shopping/src/list.go"}`, "package src", false)
			text := c.summary(t, "")
			for range 3 {
				files := below(text, "## Relevant Files")
				require.Contains(t, files, "- `/home/me/shop` is where relative paths begin [#")
				require.Contains(t, files, "- `src/pager.go` modified [#")
				require.Contains(t, files, "- `src/export.go` read [#")
				require.Contains(t, files, "- `/home/me/other/src/pager.go` read [#", "a file of another folder is another file")
				require.Contains(t, files, "- `/home/me/shopping/src/list.go` read [#")
				require.Equal(t, 2, strings.Count(files, "pager.go"), files)
				require.Equal(t, 1, strings.Count(files, "export.go"), files)
				text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
			}
		})
	}
}

// TestAPastedDirectoryIsNoRoot: what the user pastes says nothing about where the agent works.
func TestAPastedDirectoryIsNoRoot(t *testing.T) {
	t.Parallel()
	for _, pasted := range []string{
		"The build of last night failed:\n\nWorking directory: /home/ci/build\nmake: *** [all] Error 2",
		"It says cwd: /home/ci/build\nWhy?",
		"The other agent was told this:\n```\n<env>\nWorking directory: /home/ci/build\n</env>\n```",
	} {
		var c conversation
		c.user("Add paging to the export of the shop.")
		c.user(pasted)
		c.runs("cd /home/me/shop && go test ./...", "ok", false)
		c.tool("edit", `{"path":"/home/me/shop/src/pager.go","oldText":"a","newText":"b"}`, "ok", false)
		c.tool("edit", `{"path":"src/export.go","oldText":"a","newText":"b"}`, "ok", false)
		files := below(c.summary(t, ""), "## Relevant Files")
		require.Contains(t, files, "- `/home/me/shop` is where relative paths begin [#", pasted)
		require.NotContains(t, files, "/home/ci", pasted)
	}
}

// TestADeclaredRootReplacesTheCarriedOne: a previous summary may have found its root by signs, and no number of signs
// makes a declaration.
func TestADeclaredRootReplacesTheCarriedOne(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Add paging to the export of the shop.")
	c.runs("cd /home/me/shop && go test ./...", "ok", false)
	for i := range 40 {
		c.tool("edit", fmt.Sprintf(`{"path":"/home/me/shop/src/pager%d.go","oldText":"a","newText":"b"}`, i), "ok", false)
		c.tool("edit", fmt.Sprintf(`{"path":"src/pager%d.go","oldText":"a","newText":"b"}`, i), "ok", false)
	}
	declare := func() {
		c.user("<environment_context>\n  <cwd>/home/me/depot</cwd>\n</environment_context>")
		c.tool("edit", `{"path":"/home/me/depot/src/stock.go","oldText":"a","newText":"b"}`, "ok", false)
		for range 9 {
			c.runs("cd /home/me/shop && go test ./...", "ok", false)
		}
	}
	before := c.summary(t, "")
	require.Contains(t, before, "- `/home/me/shop` is where relative paths begin")
	from := len(c.log)
	declare()
	for _, text := range []string{
		summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: before, MaxTokens: 2000}),
		c.summary(t, ""),
	} {
		files := below(text, "## Relevant Files")
		require.Contains(t, files, "- `/home/me/depot` is where relative paths begin")
		require.Contains(t, files, "- `src/stock.go` modified")
		require.Contains(t, files, "- `/home/me/shop/src/pager1.go` modified")
	}
}

// TestAnErrorNamesTheFileLikeTheList: and a success by the file's other path resolves it.
func TestAnErrorNamesTheFileLikeTheList(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Add paging to the export of the shop.")
	c.runs("cd /home/me/shop && make lint", "ok", false)
	c.tool("edit", `{"path":"/home/me/shop/src/pager.go","oldText":"a","newText":"b"}`, "ok", false)
	c.tool("edit", `{"path":"/home/me/shop/src/export.go","oldText":"a","newText":"b"}`, "Error: the text was not found", true)
	text := c.summary(t, "")
	require.Contains(t, below(text, "### Blocked"), "- `edit` src/export.go failed: ")
	from := len(c.log)
	c.tool("edit", `{"path":"/home/me/shop/src/export.go","oldText":"c","newText":"b"}`, "ok", false)
	text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 2000})
	require.NotContains(t, text, "failed")
}

var fileLine = regexp.MustCompile("(?m)^- `([^`]+)`(?: in `([^`]+)`)? (modified|read|is where relative paths begin)")

// TestFilesAreThoseOfTheConversation: each path of a list of files leads to a file that the conversation names, and no two
// lead to the same one.
func TestFilesAreThoseOfTheConversation(t *testing.T) {
	t.Parallel()
	roots := []string{"/srv/shop", "/srv/depot", "/home/me/shop"}
	folders := []string{"", "src/", "src/api/", "test/"}
	names := []string{"main.go", "pager.go", "index.ts"}
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 4))
		root := roots[draw.IntN(len(roots))]
		files := map[string]bool{}
		text := ""
		var c conversation
		for round := range 3 {
			from := len(c.log)
			if round == 0 {
				c.user("Add paging to the export.\n<environment_context><cwd>" + root + "</cwd></environment_context>")
			}
			for range 1 + draw.IntN(12) {
				folder, name := folders[draw.IntN(len(folders))], names[draw.IntN(len(names))]
				from, verb := root, []string{"read_file", "edit"}[draw.IntN(2)]
				var shown string
				switch draw.IntN(5) {
				case 0:
					shown = folder + name
				case 1:
					shown = "./" + folder + name
				case 2:
					from = roots[draw.IntN(len(roots))]
					c.runs(fmt.Sprintf("cd %s/%s && cat %s", from, folder, name), "text", false)
				default:
					if draw.IntN(3) == 0 {
						from = roots[draw.IntN(len(roots))]
					}
					shown = from + "/" + folder + name
				}
				if shown != "" {
					c.tool(verb, fmt.Sprintf(`{"path":%q,"oldText":"a","newText":"b"}`, shown), "ok", false)
				}
				files[path.Join(from, folder, name)] = true
			}
			text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 8000})
			begins, listed := "", map[string]bool{}
			lines := fileLine.FindAllStringSubmatch(below(text, "## Relevant Files"), -1)
			for _, line := range lines {
				if strings.HasPrefix(line[3], "is") {
					begins = line[1]
				}
			}
			for _, line := range lines {
				if strings.HasPrefix(line[3], "is") {
					continue
				}
				named := path.Join(line[2], line[1])
				whole := named
				if !path.IsAbs(whole) {
					whole = path.Join(begins, named)
					if begins == "" {
						whole = path.Join(root, named)
					}
				}
				require.True(t, files[whole], "seed %d: %s is no file of %v:\n%s", seed, whole, files, text)
				require.False(t, listed[whole], "seed %d: %s is listed twice:\n%s", seed, whole, text)
				listed[whole] = true
			}
			require.Len(t, listed, len(files), "seed %d:\n%s", seed, text)
		}
	}
}

// A file that a command names in the directory that it changed to stands with both as they were said, also in the summary
// after that, until somebody says the whole path.
func TestFilesAreNamedAsTheyWereSaid(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Add paging to the export.")
	c.runs("cd web/shop && sed -i s/a/b/ src/pager.ts", "ok", false)
	text := c.summary(t, "")
	require.Contains(t, below(text, "## Relevant Files"), "- `src/pager.ts` in `web/shop` modified [#")
	require.NotContains(t, text, "web/shop/src/pager.ts")

	from := len(c.log)
	c.runs("cd web/shop && cat src/page.ts", "text", false)
	text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 2000})
	require.Contains(t, below(text, "## Relevant Files"), "- `src/pager.ts` in `web/shop` modified [#")

	from = len(c.log)
	c.tool("read_file", `{"path":"web/shop/src/pager.ts"}`, "text", false)
	text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 2000})
	require.Contains(t, below(text, "## Relevant Files"), "- `web/shop/src/pager.ts` modified [#")
}
