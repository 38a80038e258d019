package extractive_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

var keyBlock = regexp.MustCompile(`(?s)-----BEGIN KEY-----.*?-----END KEY-----|token_[a-z0-9]{20,}`)

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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user("Port the deploy script.")
			write(&c)
			c.says("I go on with the script.")
			for _, budget := range []uint32{120, 400, 2000} {
				text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget, Redact: func(s string) string {
					return keyBlock.ReplaceAllString(s, "[REDACTED]")
				}})
				require.NotContains(t, text, "kEyLiNe")
				require.NotContains(t, text, "a1b2c3d4")
				require.Contains(t, text, "deploy script")
			}
		})
	}
}
