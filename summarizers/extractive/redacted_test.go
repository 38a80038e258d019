package extractive_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

var keyBlock = regexp.MustCompile(`(?s)-----BEGIN KEY-----.*?-----END KEY-----|token_[a-z0-9]{20,}|the passphrase:\s+[a-z0-9]+`)

// A part of a secret is not recognized as one. So no part of a message that holds one reaches the digest, wherever a text
// is cut.
func TestNoPartOfASecretIsKept(t *testing.T) {
	t.Parallel()
	secret := "-----BEGIN KEY-----\n"
	for i := range 25 {
		secret += fmt.Sprintf("kEyLiNe%dabcdefghijklmnopqrstuvwxyz\n", i)
	}
	secret += "-----END KEY-----"
	token := "token_" + strings.Repeat("a1b2c3d4", 20)
	for name, write := range map[string]func(c *conversation){
		"user":  func(c *conversation) { c.user("Use " + secret + " please, and never commit it.") },
		"rule":  func(c *conversation) { c.user("Never commit this: " + secret) },
		"agent": func(c *conversation) { c.says("I decided to use " + secret + " because it is there.") },
		"question": func(c *conversation) {
			c.says("Should I use " + strings.ReplaceAll(secret, "\n", " ") + " for it?")
			c.user("yes")
			c.says("The script now reads its settings from the environment, and writes what it did into a log.")
		},
		"question before a document": func(c *conversation) {
			c.says("Should I use " + strings.ReplaceAll(secret, "\n", " ") + " for it?")
			c.user("Base directory for this skill: /srv/skills/port\n\n" + strings.Repeat("# Porting\n\nThis document says how scripts are ported to Go. ", 10))
			c.user("yes")
			c.says("The script now reads its settings from the environment, and writes what it did into a log.")
		},
		"question before an empty message": func(c *conversation) {
			c.says("Should I use " + strings.ReplaceAll(secret, "\n", " ") + " for it?")
			c.user("")
			c.user("yes")
			c.says("The script now reads its settings from the environment, and writes what it did into a log.")
		},
		"declined call": func(c *conversation) {
			c.tool("send_mail", `{"to":"a@b.example","body":"`+token+`"}`, "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the other mailbox", true)
		},
		"two equal calls": func(c *conversation) {
			args := `{"command":"make deploy KEY=` + token + `"}`
			c.add(compactordv1.Role_ROLE_ASSISTANT, callPart("p1", "bash", args), callPart("p2", "bash", args))
			c.add(compactordv1.Role_ROLE_TOOL, resultPart("p1", "bash", "deployed", false))
			c.add(compactordv1.Role_ROLE_TOOL, resultPart("p2", "bash", "deployed", false))
		},
		"result": func(c *conversation) { c.runs("cat key.pem", "Error: cannot read\n"+secret, true) },
		"arguments": func(c *conversation) {
			c.tool("bash", `{"command":"curl -H 'X: `+token+`' https://example.test/`+strings.Repeat("a/", 60)+`"}`, "FAIL", true)
		},
		"two parts": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_USER, textPart("Never commit this, ever: "+secret[:len(secret)/2]), textPart(secret[len(secret)/2:]+" It is for the build."))
		},
		"two lines in two parts": func(c *conversation) {
			head, tail, _ := strings.Cut(secret, "kEyLiNe9")
			c.add(compactordv1.Role_ROLE_ASSISTANT, textPart("I decided to use "+strings.TrimSuffix(head, "\n")), textPart("kEyLiNe9"+tail))
		},
		"token in two parts": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_USER, textPart("Never show "+token[:14]), textPart(token[14:]+" to anybody."))
		},
		"key and value in two parts": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_USER, textPart("Never show anybody the passphrase:"), textPart("a1b2c3d4"))
		},
		"two parts of a result": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_ASSISTANT, callPart("r1", "bash", `{"command":"make keys"}`))
			result := resultPart("r1", "bash", "Error: cannot read "+secret[:len(secret)/2], true)
			result.GetToolResult().Parts = append(result.GetToolResult().Parts, &compactordv1.ResultPart{
				Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: secret[len(secret)/2:]}},
			})
			c.add(compactordv1.Role_ROLE_TOOL, result)
		},
		"tool's name": func(c *conversation) {
			for i := range 6 {
				c.tool("get_"+token+"_state", fmt.Sprintf(`{"berth":"B-%d"}`, i), "Error: berth B-12 is taken", true)
			}
		},
		"name in a result without a call": func(c *conversation) {
			for range 6 {
				c.add(compactordv1.Role_ROLE_TOOL, resultPart("", strings.Repeat("-", 90)+token+strings.Repeat("-", 90), "Error: berth B-12 is taken", true))
			}
		},
		"name of an attachment": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_USER, textPart("Read the picture of the harbour, please."), &compactordv1.Part{
				Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{MimeType: "image/png", Name: strings.Repeat("harbour ", 40) + token}},
			})
		},
		"file that a tool reports": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_ASSISTANT, callPart("r1", "build", `{"target":"all"}`))
			result := resultPart("r1", "build", "done", false)
			result.GetToolResult().Files = []*compactordv1.FileTouch{
				{Path: "/srv/-----BEGIN KEY-----kEyLiNe/kEyLiNe-----END KEY-----/deploy.sh", Modified: true},
				{Path: "/srv/-----BEGIN KEY-----kEyLiNe/kEyLiNe-----END KEY-----/README.md", Modified: true},
			}
			c.add(compactordv1.Role_ROLE_TOOL, result)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user("Port the deploy script.")
			write(&c)
			c.says("I go on with the script.")
			for _, budget := range []uint32{120, 400, 2000} {
				for _, req := range []*summarizers.Request{{Messages: c.log}, readingEach(c.log)} {
					req.MaxTokens, req.Redact = budget, withoutKeys
					text := summarize(t, req)
					require.NotContains(t, text, "kEyLiNe")
					require.NotContains(t, text, "a1b2c3d4")
					require.Contains(t, text, "deploy script")
				}
			}
		})
	}
}

// readingEach returns a request that has messages without their parts, and reads each as it is in the log.
func readingEach(log []*compactordv1.LoggedMessage) *summarizers.Request {
	req := &summarizers.Request{Contents: func(m *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error) {
		return log[m.GetIndex()], nil
	}}
	for _, m := range log {
		req.Messages = append(req.Messages, &compactordv1.LoggedMessage{
			Index: m.GetIndex(), Tokens: m.GetTokens(), Message: &compactordv1.Message{Role: m.GetMessage().GetRole()},
		})
	}
	return req
}

// A leading message is in every view. The line of the root quotes a part of one, and that can be a part of a secret.
func TestNoPartOfASecretOfALeadingMessageIsKept(t *testing.T) {
	t.Parallel()
	var c conversation
	c.add(compactordv1.Role_ROLE_SYSTEM, textPart("Working directory: /srv/-----BEGIN KEY-----kEyLiNe1\nkEyLiNe2-----END KEY-----"))
	c.user("Port the deploy script.")
	c.tool("edit_file", `{"path":"src/deploy.sh","old":"a","new":"b"}`, "ok", false)
	text := summarize(t, &summarizers.Request{
		Lead: c.log[:1], Messages: c.log[1:], MaxTokens: 2000, Redact: withoutKeys,
	})
	require.NotContains(t, text, "kEyLiNe")
	require.Contains(t, text, "src/deploy.sh")
}

// A summary that was written before secrets were replaced is carried over without them.
func TestNoPartOfASecretOfThePreviousSummaryIsKept(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the deploy script.")
	c.says("I go on with the script.")
	previous := "## Constraints & Preferences\n- Never commit -----BEGIN KEY----- " + strings.Repeat("kEyLiNe ", 200) + "-----END KEY-----. [#1]\n"
	for _, budget := range []uint32{120, 400, 2000} {
		text := summarize(t, &summarizers.Request{PreviousSummary: previous, Messages: c.log, MaxTokens: budget, Redact: withoutKeys})
		require.NotContains(t, text, "kEyLiNe")
	}
}

// The quotes beside a model's text have no part of a secret whose halves are in two parts of a message.
func TestNoQuoteOfASecretInTwoParts(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the deploy script.")
	c.add(compactordv1.Role_ROLE_ASSISTANT, textPart("The key is -----BEGIN KEY-----\nkEyLiNe_a/b.go:12"), textPart("kEyLiNe_c/d.go:14 -----END KEY-----\nIt is in src/deploy.sh."))
	text, faults, err := extractive.WithQuotes(t.Context(), &summarizers.Request{
		Messages: c.log, MaxTokens: 2000, Replaces: 4000, Count: chars4, Redact: withoutKeys,
	}, "## Goal\nPort the deploy script. [#0]\n\n## Critical Context\n- It is a script. [#0]\n")
	require.NoError(t, err)
	require.Empty(t, faults)
	require.NotContains(t, text, "kEyLiNe")
	require.Contains(t, text, "src/deploy.sh")
}

// Nor have they one of a previous summary that was written before secrets were replaced.
func TestNoQuoteOfASecretOfThePreviousSummary(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the deploy script.")
	c.log[0].Index = 9
	text, _, err := extractive.WithQuotes(t.Context(), &summarizers.Request{
		PreviousSummary: "## Critical Context\n- [#1] -----BEGIN KEY----- kEyLiNe_a/b.go:12\n- [#2] src/deploy.sh:14 -----END KEY----- It is in src/port.sh:15.\n",
		Messages:        c.log, MaxTokens: 2000, Replaces: 4000, Count: chars4, Redact: withoutKeys,
	}, "## Goal\nPort the deploy script. [#0]\n\n## Critical Context\n- It is a script. [#0]\n")
	require.NoError(t, err)
	require.NotContains(t, text, "kEyLiNe")
	require.NotContains(t, text, "src/deploy.sh")
	require.Contains(t, text, "src/port.sh")
}

// A shortened result holds no part of a secret whose other part is left out.
func TestNoPartOfASecretIsInAShortenedResult(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN KEY-----\n" + strings.Repeat("kEyLiNe and more of it\n", 60) + "-----END KEY-----\n"
	for _, result := range []string{
		strings.Repeat("a line of the log\n", 200) + key + "done\n",
		key + strings.Repeat("a line of the log\n", 200),
		"the key: " + strings.ReplaceAll(key, "\n", " ") + strings.Repeat(" line after line", 400),
	} {
		for _, budget := range []uint32{64, 200, 400} {
			text := summarize(t, &summarizers.Request{
				Kind: summarizers.Observation, Result: &summarizers.ToolResult{Index: 3, Text: result}, MaxTokens: budget, Redact: withoutKeys,
			})
			require.NotContains(t, text, "kEyLiNe")
			require.Contains(t, text, "line")
		}
	}
}

func withoutKeys(text string) string { return keyBlock.ReplaceAllString(text, "[REDACTED]") }
