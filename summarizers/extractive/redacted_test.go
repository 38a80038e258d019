package extractive_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
